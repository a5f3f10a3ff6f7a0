import { z } from "zod";
import { EngineRuns } from "./engineRuns";
import type { Read } from "./rawFile";
import { ratioOf, summaryOf } from "./results";
import { Service } from "./serviceClient";
import { orDash, pageHead, ratioText, secondsText, table } from "./text";

/* Measures a large stack on the CLI with its state in a folder, and settings that make it faster. */

export const variants = ["default", "no-backups", "no-checkpoints", "split"] as const;
export type Variant = (typeof variants)[number];

export const ADVICE_SIZE = 500;
const PARTS = 5;

const environments: Record<Variant, Record<string, string>> = {
  default: {},
  "no-backups": { PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS: "true" },
  "no-checkpoints": { PULUMI_SKIP_CHECKPOINTS: "true" },
  split: {},
};

export const adviceRow = z.object({
  round: z.number(),
  variant: z.enum(variants),
  create: z.number(),
  destroy: z.number(),
});
export type AdviceRow = z.output<typeof adviceRow>;

/** Measures `up` and `destroy` of all endpoints, in one stack or in several stacks one after the other. Unit: seconds. */
export async function adviceFor(
  variant: Variant,
  size = ADVICE_SIZE,
): Promise<{ create: number; destroy: number }> {
  const stacks = variant === "split" ? PARTS : 1;
  const sum = { create: 0, destroy: 0 };
  for (let stack = 0; stack < stacks; stack++) {
    const service = await Service.start();
    const env = environments[variant];
    const runs = await EngineRuns.start({
      driver: "cli",
      contestant: "ours",
      size: size / stacks,
      service,
      env,
    });
    try {
      sum.create += (await runs.run("create")).seconds;
      sum.destroy += (await runs.run("destroy")).seconds;
    } finally {
      await runs.close();
      await service.close();
    }
  }
  return sum;
}

const HOW = `\`up --skip-preview\` and \`destroy\` of ${ADVICE_SIZE} endpoints with a policy of 1 KB each on the Pulumi CLI, with the state in a local folder
(\`file://\`). The service answers after 20 ms. The variants take turns in an order that changes in each round. The figures are
the median and, in parentheses, the minimum and the maximum. Ratios compare runs of the same round.
`;

const names: Record<Variant, string> = {
  default: "one stack, no settings",
  "no-backups": "`PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS=true`",
  "no-checkpoints": "`PULUMI_SKIP_CHECKPOINTS=true`",
  split: "five stacks with a fifth of the endpoints each, one after the other",
};

export function advicePage({ lines, ...head }: Read<AdviceRow>): string {
  const at = (variant: Variant) => lines.filter((line) => line.variant === variant);
  const rows = variants.map((variant) => [
    names[variant],
    `${at(variant).length}`,
    ...(["create", "destroy"] as const).flatMap((of) => [
      orDash(summaryOf(at(variant).map((line) => line[of])), secondsText),
      orDash(
        ratioOf(at(variant), at("default"), (line) => line[of]),
        ratioText,
      ),
    ]),
  ]);
  const columns = ["", "runs", "up, s", "up / one stack", "destroy, s", "destroy / one stack"];
  return [
    pageHead("Large stacks on the Pulumi CLI", head, "npm run bench -- --advice"),
    HOW,
    table(columns, rows),
    "",
  ].join("\n\n");
}
