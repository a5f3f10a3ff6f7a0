import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as newest from "typescript";
import * as oldest from "typescript-5.4";
import * as last from "typescript-5.9";
import { afterAll, expect, test } from "vitest";
import { root } from "./pack";
import { LIBRARY, TYPED_PROGRAM } from "./typedProgram";

/* Compiles users' programs with the published type declarations. Needs `npm run build`. */

/** A mistake on each line, with the whole message of the compiler. */
const MISTAKES: [line: string, message: RegExp][] = [
  ['new CloudEndpoint("a", { url: 5 });', /^Type 'number' is not assignable to type 'Input<string>'\.$/],
  [
    'new CloudEndpoint("a", { url: "x", bindngs: [] });',
    /^Object literal .*'bindngs'.* Did you mean to write 'bindings'\?$/,
  ],
];

const folder = mkdtempSync(join(tmpdir(), "pulumi-endpoints-declarations-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));

type TypeScript = typeof newest;

/** Each supported compiler, with the options of Pulumi's own template or of newer projects. */
const compilers: [version: string, ts: TypeScript, target: object][] = [
  [
    "5.4",
    oldest as unknown as TypeScript,
    { target: "es2020", module: "commonjs", moduleResolution: "node" },
  ],
  [
    "5.9",
    last as unknown as TypeScript,
    { target: "es2022", module: "nodenext", moduleResolution: "nodenext" },
  ],
  ["6", newest, { target: "es2022", module: "es2022", moduleResolution: "bundler" }],
];

/**
 * The compiler's messages about the program and this package, and the files that it read.
 *
 * @param without The names of files that the compiler finds empty.
 */
function compile(ts: TypeScript, target: object, text: string, without = /^$/) {
  const file = join(folder, "index.ts");
  writeFileSync(file, text);
  const deprecated = ts.version.startsWith("6") ? { ignoreDeprecations: "6.0" } : {};
  const { options, errors } = ts.convertCompilerOptionsFromJson(
    { strict: true, noEmit: true, types: ["node"], ...deprecated, ...target },
    folder,
  );
  expect(errors).toEqual([]);
  const host = ts.createCompilerHost(options);
  const readFile = host.readFile.bind(host);
  host.readFile = (name) => (without.test(name) ? "" : readFile(name));
  const program = ts.createProgram([file], options, host);
  // Checking the declarations of other packages would take most of the time.
  const ours = program.getSourceFiles().filter(({ fileName }) => !fileName.includes("/node_modules/"));
  const messages = ours
    .flatMap((source) => [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
      ...(options.declaration ? program.getDeclarationDiagnostics(source) : []),
    ])
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
  return { messages, files: program.getSourceFiles().map(({ fileName }) => fileName) };
}

test.each(compilers)(
  "with TypeScript %s, a program compiles but for its mistakes, without skipLibCheck and the types of the package's libraries",
  { timeout: 240_000 },
  (version, ts, target) => {
    expect(ts.version.startsWith(version)).toBe(true);
    const lines = MISTAKES.map(([line]) => line).join("\n");
    const { messages, files } = compile(ts, target, TYPED_PROGRAM + lines);
    expect(messages).toEqual(MISTAKES.map(([, message]) => expect.stringMatching(message)));
    expect(files).toContainEqual(expect.stringMatching(/dist\/sdk\/index\.d\.ts$/));
    expect(files.filter((file) => /node_modules\/(zod|undici|@marcbachmann)\//.test(file))).toEqual([]);
  },
);

test.each(compilers)(
  "with TypeScript %s, a library emits declarations of what the package's functions return",
  { timeout: 240_000 },
  (_, ts, target) => expect(compile(ts, { ...target, declaration: true }, LIBRARY).messages).toEqual([]),
);

test("the declarations compile with the library of ES2020 and types of Node without await using", () => {
  const [[, ts, target] = []] = compilers;
  if (!ts || !target) throw new Error("there is no compiler");
  const files = ["sdk/index", "sdk/testing/index"].map((name) => join(root, "dist", `${name}.d.ts`));
  const references = files.map((file) => `/// <reference path=${JSON.stringify(file)} />`);
  const old = { ...target, lib: ["es2020"], types: [] };
  expect(compile(ts, old, references.join("\n"), /disposable\.d\.ts$/).messages).toEqual([]);
});
