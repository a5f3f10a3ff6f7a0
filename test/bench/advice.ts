import { z } from "zod";
import { EngineRuns } from "./engineRuns";
import { Service } from "./service";

/* What a big stack costs on the CLI with a state of one's own keeping, and what helps. */

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

/** `up` and `destroy` of all endpoints, in one stack or one after the other in several. In seconds. */
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
