/* Texts that would take a naive parser a long time. */

/** Creates a text with about `size` characters, and never much more. */
export type Hostile = Record<string, (size: number) => string>;

const lines = (size: number, line: (index: number) => string, width = 10) =>
  Array.from({ length: size / width }, (_, index) => line(index)).join("\n");
const nested = (size: number, open: string, close: string) => open.repeat(size) + close.repeat(size);
/** Each line has an anchor, and aliases of the line before. */
const chain = (size: number, width: number, line: (name: string, before: string) => string) =>
  `a0: &a0 {x: 1}\n${lines(size, (index) => `a${index + 1}: ${line(`&a${index + 1}`, `*a${index}`)}`, width)}`;

/** What the limits on levels, anchors, merges and numbers are for. The library's own time is bounded by the size. */
export const hostileYaml: Hostile = {
  levels: (size) => `a: ${nested(size / 2, "[", "]")}`,
  "levels again and again": (size) => `a: [${`${nested(190, "[", "]")},`.repeat(size / 381)}]`,
  "one anchor, given again and again": (size) => `a: [${`&a 1,${"*a,".repeat(100)}`.repeat(size / 305)}]`,
  "aliases that multiply": (size) => chain(size, 80, (name, before) => `${name} [${`${before},`.repeat(9)}]`),
  "merges that multiply": (size) =>
    chain(size, 60, (name, before) => `${name} {<<: [${before}, ${before}], x: 2}`),
  "a repeated long number": (size) => `a: &a 0.${"0".repeat(size / 2)}\nb: [${"*a, ".repeat(100)}]`,
  "zeros in a number": (size) => `a: 1${"0".repeat(size)}1`,
};

export const hostileJson: Hostile = {
  "a valid document": (size) => `{"a":[${lines(size, () => '{"b":"c"},')}1]}`,
  "an invalid document": (size) => `{"a":[${lines(size, () => '{"b":"c"},')}1]`,
  levels: (size) => nested(size / 2, "[", "]"),
  "levels that are never closed": (size) => "[".repeat(size),
  "a string that is never closed": (size) => `{"a":"${"x".repeat(size)}`,
  escapes: (size) => `{"a":"${"\\n".repeat(size / 2)}`,
  "escaped quotes": (size) => `{"a":"${'\\"'.repeat(size / 2)}`,
  "zeros in a number": (size) => `{"a":1.${"0".repeat(size)}1}`,
  numbers: (size) => `{"a":[${"1234567890123456.5,".repeat(size / 19)}1]}`,
};
