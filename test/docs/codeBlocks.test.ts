import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as ts from "typescript";
import { expect, test } from "vitest";
import { parseDocument } from "yaml";
import { root } from "../package/pack";
import { type Block, blocksOf, pages } from "./pages";

/* The syntax of what a reader copies from the README and the docs. `programs.slow.test.ts` compiles the programs. */

function syntaxErrors(code: string): string[] {
  const { diagnostics = [] } = ts.transpileModule(code, {
    reportDiagnostics: true,
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  return diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

/** The error of a function or of another program that refuses a text. */
function refusal(read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    return [
      error instanceof Error && "stderr" in error ? String(error.stderr || error.message) : String(error),
    ];
  }
}

const fed = (input: string, file: string, ...args: string[]) =>
  refusal(() => execFileSync(file, args, { input, stdio: ["pipe", "ignore", "pipe"] }));
const unchecked = () => [];

/** The check of each language. */
const checks: Record<string, (code: string) => string[]> = {
  ts: syntaxErrors,
  typescript: syntaxErrors,
  json: (code) => refusal(() => JSON.parse(code)),
  yaml: (code) => parseDocument(code).errors.map(({ message }) => message),
  sh: (code) => fed(code, "sh", "-n"),
  // Slow tests run or build the same programs as examples.
  python: unchecked,
  go: unchecked,
  // Output of commands.
  text: unchecked,
  "": unchecked,
};

function mistakesIn(blocks: Block[]): string[] {
  // All commands are one text, so that the shell starts once.
  const commands = blocks.filter(({ language }) => language === "sh").map(({ code }) => code);
  const all = [
    ...blocks.filter(({ language }) => language !== "sh"),
    { page: "the commands", line: 1, language: "sh", code: commands.join("\n") },
  ];
  return all.flatMap(({ page, line, language, code }) => {
    const check = checks[language] ?? (() => [`is in no language that is checked: ${language}`]);
    return check(code).map((mistake) => `${page}:${line}: ${mistake}`);
  });
}

test("all code on the pages parses", () => {
  const blocks = pages.flatMap((page) => blocksOf(page));
  // Every fence belongs to a block, so that none is left unchecked.
  const fences = pages.flatMap((page) => readFileSync(join(root, page), "utf8").match(/^\s*```/gm) ?? []);
  expect(fences).toHaveLength(2 * blocks.length);
  expect(blocks.length).toBeGreaterThan(40);
  expect(mistakesIn(blocks)).toEqual([]);
});
