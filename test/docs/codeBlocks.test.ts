import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as ts from "typescript";
import { describe, expect, test } from "vitest";
import { parseDocument } from "yaml";
import * as sdk from "../../sdk";
import * as kit from "../../sdk/testing";
import { root } from "../package/pack";
import { type Block, blocksOf, pages } from "./pages";

/* The syntax of what a reader copies from the README and the docs. `programs.slow.test.ts` compiles the programs. */

/** The pages that need no code. Every other page has some. */
const WITHOUT_CODE = [
  "docs/measurements.md",
  "docs/policy-actions.md",
  "docs/scale.md",
  "docs/troubleshooting.md",
];

const exported = { "pulumi-endpoints": Object.keys(sdk), "pulumi-endpoints/testing": Object.keys(kit) };

/** The mistakes in a program's syntax, and the values that it imports from the package although there are none. */
function mistakesInScript(code: string): string[] {
  const { diagnostics = [], outputText } = ts.transpileModule(code, {
    reportDiagnostics: true,
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  const imports = [...outputText.matchAll(/^import \{([^}]*)\} from "(pulumi-endpoints(?:\/testing)?)"/gm)];
  const missing = imports.flatMap(([, names = "", module = ""]) => {
    const known = exported[module as keyof typeof exported];
    const used = names.split(",").map((name) => name.trim().split(" as ")[0] ?? "");
    return used
      .filter((name) => name !== "" && !known.includes(name))
      .map((name) => `${module} has no ${name}`);
  });
  return [
    ...diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n")),
    ...missing,
  ];
}

/** What another program prints about a text that it refuses. */
function refusal(file: string, args: string[], input: string): string[] {
  try {
    execFileSync(file, args, { input, stdio: ["pipe", "ignore", "pipe"] });
    return [];
  } catch (error) {
    return [
      error instanceof Error && "stderr" in error ? String(error.stderr || error.message) : String(error),
    ];
  }
}

function jsonMistakes(code: string): string[] {
  try {
    JSON.parse(code);
    return [];
  } catch (error) {
    return [String(error)];
  }
}

const hasPython = refusal("python3", ["--version"], "").length === 0;
const unchecked = () => [];

/** The check of each language. */
const checks: Record<string, (code: string) => string[]> = {
  ts: mistakesInScript,
  typescript: mistakesInScript,
  js: mistakesInScript,
  json: jsonMistakes,
  yaml: (code) => parseDocument(code).errors.map(({ message }) => message),
  sh: (code) => refusal("sh", ["-n"], code),
  python: (code) =>
    hasPython ? refusal("python3", ["-c", "import ast, sys; ast.parse(sys.stdin.read())"], code) : [],
  // The same programs are built as examples of the schema.
  go: unchecked,
  hcl: unchecked,
  // What a command prints.
  text: unchecked,
  "": unchecked,
};

const mistakesIn = ({ page, line, language, code }: Block): string[] =>
  (checks[language]?.(code) ?? [`is in no language that is checked: ${language}`]).map(
    (mistake) => `${page}:${line}: ${mistake}`,
  );

test.each(pages)("%s has code, and all of it parses", (page) => {
  const blocks = blocksOf(page);
  if (!WITHOUT_CODE.includes(page)) expect(blocks).not.toEqual([]);
  // Every fence belongs to a block, so that none is left unchecked.
  const fences = readFileSync(join(root, page), "utf8").match(/^\s*```/gm) ?? [];
  expect(fences).toHaveLength(2 * blocks.length);
  expect(blocks.flatMap(mistakesIn)).toEqual([]);
});

describe("the check finds", () => {
  // biome-ignore format: one line for each mistake
  test.each([
    ["a mistake in TypeScript", "ts", "const a = ;", /Expression expected/],
    ["a value that the package does not export", "ts", 'import { Endpoint } from "pulumi-endpoints";\nEndpoint();', /pulumi-endpoints has no Endpoint/],
    ["a mistake in YAML", "yaml", "a: b: c", /Nested mappings/],
    ["a mistake in JSON", "json", "{a: 1}", /SyntaxError/],
    ["a mistake of the shell", "sh", "if true; then", /./],
    ["a block in another language", "ruby", "x", /no language that is checked/],
  ])("%s", (_, language, code, mistake) => {
    const [block, ...others] = blocksOf("page.md", `# Page\n\n1. Do\n\n   \`\`\`${language}\n   ${code.replace("\n", "\n   ")}\n   \`\`\`\n`);
    expect(others).toEqual([]);
    expect(block && mistakesIn(block)).toContainEqual(expect.stringMatching(mistake));
  });
});
