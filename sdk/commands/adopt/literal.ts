/*
 * Data as a TypeScript expression, laid out as Biome and Prettier do: on one line where it fits, keys without quotes
 * where they can be. Evaluated, it is the data again, whatever the keys and texts hold.
 */

/** An expression in the place of a value. */
export class Code {
  constructor(readonly text: string) {}
}

const WIDTH = 110;

/** After a key (and its colon) that is no longer, a text never goes to the next line: it would gain too little. */
const SHORT_KEY = 5;

/**
 * @param value Plain data, or `Code` where an expression is to stand.
 * @param column Where in its line the expression begins.
 * @param indent How far the line is indented.
 * @param after How many characters follow the expression in its last line.
 */
export function literal(value: unknown, column = 0, indent = 0, after = 0): string {
  const line = onOneLine(value);
  if (line !== undefined && column + line.length + after <= WIDTH) return line;
  if (Array.isArray(value) && value.length > 0) return brokenList(value, indent);
  if (isObject(value) && Object.keys(value).length > 0) return expanded(value, indent);
  return line ?? "";
}

/** An object's key, without quotes where it can be. */
function keyText(key: string): string {
  // Written as any other key, this one would set the object's prototype.
  if (key === "__proto__") return '["__proto__"]';
  return /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(key) ? key : text(key);
}

/** A text in the quotes of which it holds fewer, with escapes for whatever cannot be seen, or is not what it looks like. */
export function text(value: string): string {
  const doubles = value.split('"').length;
  const quote = doubles > value.split("'").length ? "'" : '"';
  return `${quote}${visible(value).replaceAll(quote, `\\${quote}`)}${quote}`;
}

/** The parts of a template literal that are text. */
export function templateText(value: string): string {
  return visible(value).replaceAll("`", "\\`").replaceAll("${", "\\${");
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\b": "\\b",
  "\f": "\\f",
  "\v": "\\v",
};

function visible(value: string): string {
  return value.replace(/\\|[\p{C}\p{Z}]/gu, (character) => {
    if (character === " ") return character;
    const point = character.codePointAt(0) ?? 0;
    const hex = point.toString(16);
    return SHORT_ESCAPES[character] ?? (point > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`);
  });
}

function number(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value).replace("e+", "e");
}

/** Undefined for what never stands on one line. */
function onOneLine(value: unknown): string | undefined {
  if (value instanceof Code) return value.text;
  if (typeof value === "string") return text(value);
  if (typeof value === "number") return number(value);
  if (Array.isArray(value)) {
    const items = isTable(value) ? [undefined] : value.map(onOneLine);
    return items.every((item) => item !== undefined) ? `[${items.join(", ")}]` : undefined;
  }
  if (!isObject(value)) return String(value);
  const entries = Object.entries(value).map(([key, item]) => {
    const line = onOneLine(item);
    return line === undefined ? undefined : `${keyText(key)}: ${line}`;
  });
  if (entries.length === 0) return "{}";
  return entries.every((entry) => entry !== undefined) ? `{ ${entries.join(", ")} }` : undefined;
}

/** Several objects, or several lists, with more in each than one thing: a row stands on a line of its own. */
function isTable(list: readonly unknown[]): boolean {
  if (list.length < 2) return false;
  return (
    list.every((item) => Array.isArray(item) && item.length > 1) ||
    list.every((item) => isObject(item) && Object.keys(item).length > 1)
  );
}

function brokenList(list: readonly unknown[], indent: number): string {
  const inner = indent + 2;
  const lines = list.every((item) => typeof item === "number")
    ? filled(list.map(number), inner)
    : list.map((item) => literal(item, inner, inner, 1));
  return bracketed("[", lines, "]", indent);
}

/** An object with a line, or more, for each of its keys. */
export function expanded(object: object, indent: number): string {
  const inner = indent + 2;
  const lines = Object.entries(object).map(([key, item]) => {
    const name = `${keyText(key)}:`;
    const column = inner + name.length + 1;
    const written = literal(item, column, inner, 1);
    // A text that is too long for its line goes to the next one.
    const isLong = typeof item === "string" && column + written.length + 1 > WIDTH && name.length > SHORT_KEY;
    return isLong ? `${name}\n${" ".repeat(inner + 2)}${written}` : `${name} ${written}`;
  });
  return bracketed("{", lines, "}", indent);
}

function bracketed(open: string, lines: string[], close: string, indent: number): string {
  const inner = " ".repeat(indent + 2);
  return `${open}\n${lines.map((line) => `${inner}${line},\n`).join("")}${" ".repeat(indent)}${close}`;
}

/** Numbers in as few lines as hold them. */
function filled(numbers: string[], indent: number): string[] {
  const lines: string[] = [];
  for (const one of numbers) {
    const last = lines.at(-1);
    if (last !== undefined && indent + last.length + 2 + one.length + 1 <= WIDTH)
      lines[lines.length - 1] = `${last}, ${one}`;
    else lines.push(one);
  }
  return lines;
}

/** Data's own objects, and no `Code`. */
function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Code);
}
