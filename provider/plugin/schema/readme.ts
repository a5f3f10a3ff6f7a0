import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./docs";

/** The README of a generated SDK: what it is for, one of the examples in its language, and the settings. */
export function readme(
  description: string,
  { language, example }: { language: string; example: string },
  settings: Record<string, { description: string }>,
): string {
  const program = readFileSync(join(root, "examples", example), "utf8").trim();
  const rows = Object.entries(settings).map(
    ([name, setting]) => `- \`endpoints:${name}\`: ${setting.description}`,
  );
  return [
    description,
    `\`\`\`${language}\n${program}\n\`\`\``,
    "What an explicit provider is given wins over the stack's configuration, and that over the environment:",
    `${rows.join("\n")}\n`,
  ].join("\n\n");
}
