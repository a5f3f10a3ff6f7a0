import { ADVICE_SIZE, type AdviceRow, type Variant, variants } from "../advice";
import type { Read } from "../rawFile";
import { type Summary, summaryOf } from "../statistics";
import { pageHead, ratioText, secondsText, table } from "../text";

const HOW = `\`up --skip-preview\` and \`destroy\` of ${ADVICE_SIZE} endpoints with a policy of 1 KB each on the Pulumi CLI, whose state is in a local folder
(\`file://\`); the service answers 20 ms late. The variants take turns in an order that changes with each round. Given are
the median and, in parentheses, the least and the most; ratios are taken within each round.
`;

const names: Record<Variant, string> = {
  default: "one stack, as it comes",
  "no-backups": "`PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS=true`",
  "no-checkpoints": "`PULUMI_SKIP_CHECKPOINTS=true`",
  split: "five stacks of a fifth each, one after the other",
};

export function advicePage({ lines, ...head }: Read<AdviceRow>): string {
  const at = (variant: Variant) => lines.filter((line) => line.variant === variant);
  const times = (variant: Variant, of: "create" | "destroy") =>
    summaryOf(at(variant).map((line) => line[of]));
  const ratios = (variant: Variant, of: "create" | "destroy") =>
    summaryOf(
      at(variant).flatMap((line) => {
        const beside = at("default").find(({ round }) => round === line.round);
        return beside ? [line[of] / beside[of]] : [];
      }),
    );
  const or = (summary: Summary | undefined, text: (summary: Summary) => string) =>
    summary ? text(summary) : "–";
  const rows = variants.map((variant) => [
    names[variant],
    `${at(variant).length}`,
    ...(["create", "destroy"] as const).flatMap((of) => [
      or(times(variant, of), secondsText),
      or(ratios(variant, of), ratioText),
    ]),
  ]);
  const columns = ["", "runs", "up, s", "to one stack", "destroy, s", "to one stack"];
  return [
    pageHead("Large stacks on the Pulumi CLI", head, "npm run bench -- --advice"),
    HOW,
    table(columns, rows),
    "",
  ].join("\n\n");
}
