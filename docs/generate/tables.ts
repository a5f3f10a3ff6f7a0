import { z } from "zod";
import type { Member } from "./docs";

/** A row of a table in the reference. */
export interface Field {
  name: string;
  type: string;
  required: boolean;
  /** The documentation, including the default. */
  text: string;
}

/** The fields of a schema, with the comments on them. */
export function fieldsOf(shape: z.ZodRawShape, docs: ReadonlyMap<string, string>): Field[] {
  const json = jsonType.parse(z.toJSONSchema(z.object(shape), { io: "input", unrepresentable: "any" }));
  return Object.entries(shape).map(([name, field]) => ({
    name,
    type: typeText(json.properties?.[name] ?? {}) ?? acceptedKinds(field),
    required: json.required?.includes(name) === true,
    text: docs.get(name) ?? "",
  }));
}

/** The fields of an interface or a class, with the comments on them. */
export function fieldsOfMembers(members: Member[]): Field[] {
  return members.map(({ name, type, optional, text }) => ({ name, type, required: !optional, text }));
}

/** A table of fields that a program writes, with their defaults. */
export function inputTable(first: string, fields: Field[]): string {
  return table(
    [first, "type", "default", "meaning"],
    fields.map(({ name, type, required, text }) => {
      const { rest, standard } = withoutDefault(text);
      return [code(name), code(type), required ? "**required**" : standard, rest];
    }),
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

export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Separates the sentence `Default: …` from a comment, since tables show defaults in their own column. */
export function withoutDefault(text: string): { rest: string; standard: string } {
  const [sentence, standard = ""] = /\s*Default: (.+?)\.(?=\s|$)/.exec(text) ?? [];
  return { rest: sentence === undefined ? text : text.replace(sentence, ""), standard };
}

export const code = (text: string) => (text === "" ? "" : `\`${text}\``);

const cell = (text: string) => text.replace(/\s*\n\s*/g, " ").replaceAll("|", "\\|");

const jsonType = z.looseObject({
  type: z.string().optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  get items() {
    return jsonType.optional();
  },
  get anyOf() {
    return z.array(jsonType).optional();
  },
  get properties() {
    return z.record(z.string(), jsonType).optional();
  },
});
type JsonType = z.output<typeof jsonType>;

/** The TypeScript type of a JSON schema. Undefined if the schema has no type. */
function typeText({ type, items, anyOf, enum: values, properties, required }: JsonType): string | undefined {
  if (values) return values.map((value) => JSON.stringify(value)).join(" | ");
  if (anyOf) return [...new Set(anyOf.map((kind) => typeText(kind) ?? "object"))].join(" | ");
  if (type === "array") return `${typeText(items ?? {}) ?? "unknown"}[]`;
  if (type === "object" && properties) {
    const parts = Object.entries(properties).map(
      ([name, part]) => `${name}${required?.includes(name) ? "" : "?"}: ${typeText(part)}`,
    );
    // Otherwise the page has a separate table of its properties.
    return Object.values(properties).every(typeText) ? `{ ${parts.join("; ")} }` : type;
  }
  return type === "integer" ? "number" : type;
}

/** Values of each kind, for checks that no JSON schema can express. */
const SAMPLES: [string, unknown[]][] = [
  ["object", [{}]],
  ["string", ["{}", "8080"]],
  ["number", [8080]],
];

/** The kinds of values that a field accepts, found by parsing samples. */
function acceptedKinds(field: z.core.$ZodType): string {
  const kinds = SAMPLES.filter(([, samples]) => samples.some((one) => z.safeParse(field, one).success));
  return kinds.map(([kind]) => kind).join(" | ");
}
