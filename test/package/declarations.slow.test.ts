import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as newest from "typescript";
import * as oldest from "typescript-5.4";
import * as last from "typescript-5.9";
import { afterAll, describe, expect, test } from "vitest";
import { root } from "./pack";
import { TYPED_PROGRAM } from "./typedProgram";

/* Compiles users' programs with the published type declarations. Needs `npm run build`. */

/** A mistake on each line, with the whole message of the compiler. */
const MISTAKES: [line: string, message: RegExp][] = [
  ['new CloudEndpoint("a", { url: 5 });', /^Type 'number' is not assignable to type 'Input<string>'\.$/],
  [
    'new CloudEndpoint("a", { url: "x", bindngs: [] });',
    /^Object literal .*'bindngs'.* Did you mean to write 'bindings'\?$/,
  ],
  ["getEndpoint({});", /^Argument of type '\{\}' is not assignable to parameter of type 'GetEndpointArgs'/],
  ['new WebhookVerification("a", { platform: "github" });', /Property 'secret' is missing/],
];

const folder = mkdtempSync(join(tmpdir(), "pulumi-endpoints-declarations-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));

type TypeScript = typeof newest;

const compilers: [version: string, ts: TypeScript][] = [
  ["5.4", oldest as unknown as TypeScript],
  ["5.9", last as unknown as TypeScript],
  ["6", newest],
];

/** The options of Pulumi's template, and those of newer projects. */
const targets = [
  ["ES2020 and node", { target: "es2020", module: "commonjs", moduleResolution: "node" }],
  ["ES2022 and nodenext", { target: "es2022", module: "nodenext", moduleResolution: "nodenext" }],
  ["ES2022 and bundler", { target: "es2022", module: "es2022", moduleResolution: "bundler" }],
] as const;

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
    ])
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
  return { messages, files: program.getSourceFiles().map(({ fileName }) => fileName) };
}

describe.each(compilers)("with TypeScript %s", { timeout: 240_000 }, (version, ts) => {
  test("runs that version", () => expect(ts.version.startsWith(version)).toBe(true));

  test.each(targets)(
    "a program for %s compiles, without skipLibCheck and without the types of the package's libraries",
    (_, target) => {
      const { messages, files } = compile(ts, target, TYPED_PROGRAM);
      expect(messages).toEqual([]);
      expect(files).toContainEqual(expect.stringMatching(/dist\/sdk\/index\.d\.ts$/));
      expect(files.filter((file) => /node_modules\/(zod|undici|@marcbachmann)\//.test(file))).toEqual([]);
    },
  );

  test("the declarations compile with the library of ES2020 and types of Node without await using", () => {
    const target = { ...targets[0][1], lib: ["es2020"], types: [] };
    const files = ["sdk/index", "sdk/testing/index"].map((name) => join(root, "dist", `${name}.d.ts`));
    const references = files.map((file) => `/// <reference path=${JSON.stringify(file)} />`);
    expect(compile(ts, target, references.join("\n"), /disposable\.d\.ts$/).messages).toEqual([]);
  });

  test("each mistake gets a single message", () => {
    const lines = MISTAKES.map(([line]) => line).join("\n");
    const { messages } = compile(ts, { ...targets[0][1], skipLibCheck: true }, TYPED_PROGRAM + lines);
    expect(messages).toEqual(MISTAKES.map(([, message]) => expect.stringMatching(message)));
  });
});
