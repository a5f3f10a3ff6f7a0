import type { Field } from "./fields";

/** A table of fields that a program writes, with their defaults. */
export function inputTable(first: string, fields: Field[]): string {
  return table(
    [first, "type", "default", "meaning"],
    fields.map((field) => [code(field.name), code(field.type), ...defaultAndMeaning(field)]),
  );
}

/** A table of fields that a program reads. */
export function outputTable(first: string, fields: Field[]): string {
  const rows = fields.map(({ name, type, required, text }) => [
    code(name),
    code(type),
    required ? "always" : "",
    text,
  ]);
  return table([first, "type", "present", "meaning"], rows);
}

/** The last two columns of an input. */
export function defaultAndMeaning({ required, text }: Field): string[] {
  const { rest, standard } = withoutDefault(text);
  return [required ? "**required**" : standard, rest];
}

export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Separates the sentence `Default: …` from a comment, since tables show defaults in their own column. */
function withoutDefault(text: string): { rest: string; standard: string } {
  const [sentence, standard = ""] = /\s*Default: (.+?)\.(?=\s|$)/.exec(text) ?? [];
  return { rest: sentence === undefined ? text : text.replace(sentence, ""), standard };
}

export const code = (text: string) => (text === "" ? "" : `\`${text}\``);

const cell = (text: string) => text.replace(/\s*\n\s*/g, " ").replaceAll("|", "\\|");
