import { join } from "node:path";
import * as ts from "typescript";
import { expect, test } from "vitest";
import { withShortReference } from "../../docs/generate/llms";
import * as sdk from "../../sdk";
import { root } from "../package/pack";
import { type Mistake, mistakes, namesIn, page, programs, withPrelude } from "./llmsPage";

const entries = { "pulumi-endpoints": "sdk/index.ts", "pulumi-endpoints/testing": "sdk/testing/index.ts" };

/** The compiler's messages about each program, with the settings of the template, and the package's source. */
function errorsIn(texts: string[]): string[][] {
  const files = new Map(texts.map((text, index) => [join(root, `program${index}.ts`), text]));
  const options: ts.CompilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    esModuleInterop: true,
    skipLibCheck: true,
    noEmit: true,
    types: ["node"],
    paths: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, [join(root, file)]])),
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile, readFile } = host;
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.readFile = (file) => files.get(file) ?? readFile(file);
  host.getSourceFile = (file, version) => {
    const text = files.get(file);
    return text === undefined ? getSourceFile(file, version) : ts.createSourceFile(file, text, version);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  return [...files.keys()].map((file) => {
    const source = program.getSourceFile(file);
    const all = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return all.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
  });
}

test("the page for assistants has an up-to-date reference and at most 150 lines", async () => {
  expect(await withShortReference(page), "run `npm run generate`").toBe(page);
  expect(page.trimEnd().split("\n").length).toBeLessThanOrEqual(150);
});

test("the page has five programs, and ten mistakes with effects that the tests know", () => {
  expect(programs).toHaveLength(5);
  expect(mistakes).toHaveLength(10);
  const effects =
    /^(does not compile|preview (warns|fails.*)|up fails|state holds the secret in plain text)$/;
  for (const { outcome } of mistakes) expect(outcome).toMatch(effects);
});

test("the page lists every value that a program can import", () => {
  expect(namesIn("Exports of `pulumi-endpoints`")).toEqual(expect.arrayContaining(Object.keys(sdk)));
});

test("the compiler accepts the listed names, the programs and the corrections, and those mistakes that the page does not exclude", () => {
  const imports = Object.keys(entries).map((entry) => {
    const names = namesIn(`Exports of \`${entry}\``);
    expect(names.length).toBeGreaterThan(5);
    return `import { ${names.map((name) => `type ${name}`).join(", ")} } from "${entry}";`;
  });
  const isRefused = ({ outcome }: Mistake) => outcome === "does not compile";
  const accepted = [
    ...imports,
    ...programs,
    ...mistakes.map(({ right }) => withPrelude(right)),
    ...mistakes.flatMap((mistake) => (isRefused(mistake) ? [] : mistake.wrong.map(withPrelude))),
  ];
  const refused = mistakes.filter(isRefused).flatMap(({ wrong }) => wrong.map(withPrelude));
  const errors = errorsIn([...accepted, ...refused]);
  expect(errors.slice(0, accepted.length).flat()).toEqual([]);
  expect(errors.slice(accepted.length)).toEqual([
    ["Domain", "Edge", "Tunnel"].map((name) => expect.stringContaining(`no exported member '${name}'`)),
    [expect.stringContaining("'traffic_policy' does not exist in type 'CloudEndpointArgs'")],
    [expect.stringContaining("cannot use 'await' at the top level")],
  ]);
});
