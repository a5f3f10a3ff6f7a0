import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { UNKNOWN } from "../../../../provider/document";
import { literal, templateText } from "../../../../sdk/commands/adopt/literal";

const AWKWARD = [
  "__proto__",
  "constructor",
  "then",
  "class",
  "",
  "1",
  "x-y",
  "é",
  "\u2028\u2029",
  "\u202e",
  "\u0000",
  "𝒳",
  "\ud800",
  ["`$", "{x}`"].join(""),
  "'\"\\",
  "</script>",
  "*/",
  "a\r\nb",
  UNKNOWN,
];

const text = fc.oneof(
  fc.constantFrom(...AWKWARD),
  fc.string({ unit: "binary" }),
  fc.string({ maxLength: 130 }),
);
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(-0, 1e21, 5e-324),
);
const { value: data } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    text,
    number,
    fc.integer(),
    fc.constantFrom(null, true, false),
    fc.array(fc.integer(), { maxLength: 40 }),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.array(fc.tuple(text, tie("value")), { maxLength: 5 }).map(objectOf),
  ),
}));

/** An object whose every key is its own, `__proto__` too, as JSON gives it. */
function objectOf(entries: [string, unknown][]): object {
  return Object.fromEntries(entries);
}

const evaluated = (expression: string): unknown => new Function(`"use strict"; return (${expression});`)();

test("an expression gives the data again, whatever keys, texts and numbers it holds", () => {
  fc.assert(
    fc.property(data, fc.nat(100), (value, column) => {
      const again = evaluated(literal(value, column, column));
      // Vitest's own comparison takes a key named `constructor` for an object's class.
      expect(isDeepStrictEqual(again, value)).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test("data two hundred levels deep comes back too", () => {
  let deep: unknown = "end";
  for (let level = 0; level < 100; level++) deep = [{ level, deep }];
  expect(evaluated(literal(deep))).toStrictEqual(deep);
});

test("an expression shows no character that cannot be seen, and none that turns the order of others", () => {
  fc.assert(
    fc.property(data, (value) => {
      expect(literal(value)).not.toMatch(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/u);
    }),
  );
});

test("the text of a template is text alone", () => {
  fc.assert(
    fc.property(text, (value) => {
      expect(evaluated(`\`${templateText(value)}\``)).toBe(value);
    }),
  );
});

test("a formatter has nothing to change", () => {
  // A text alone, wider than its line, is no policy; a formatter would put it on the next one.
  const objects = fc.sample(data, { numRuns: 300, seed: 9 }).map((value) => ({ config: value }));
  const program = objects.map((value, index) => {
    const head = `const v${index} = `;
    return `${head}${literal(value, head.length, 0, 1)};\n`;
  });
  const biome = join(import.meta.dirname, "../../../../node_modules/@biomejs/biome/bin/biome");
  const args = [biome, "format", "--line-width=110", "--indent-style=space", "--stdin-file-path=program.ts"];
  const formatted = execFileSync(process.execPath, args, { input: program.join(""), encoding: "utf8" });
  expect(program.join("")).toBe(formatted);
});
