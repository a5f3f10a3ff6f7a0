import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as ts from "typescript";
import { expect, test } from "vitest";
import { programFolder } from "../folders";
import { root } from "../package/pack";
import { type Mistake, mistakes, namesIn, programs, withPrelude } from "./llmsPage";
import { type Block, blocksOf, pages } from "./pages";
import { examplesIn } from "./schemaExamples";

/* Compiles the programs and fragments of all pages and of the schema, with the settings of a project that `new` makes. */

/** Declarations of the names that fragments use from the text around them. */
const prelude = `import * as pulumi from "@pulumi/pulumi";
import { type AnyEndpoint, CloudEndpoint, getEndpoints, getEndpointsOutput, mergeAgentConfigs, mergeTrafficPolicy, Provider, readJson, type TrafficPolicy, type WebhookPlatform, WebhookVerification } from "pulumi-endpoints";
import { Emulator, gatewayReply, signWebhook, TestStack } from "pulumi-endpoints/testing";
import { expect } from "vitest";
import { z } from "zod";
declare const keep: { protect: true };
declare const config: pulumi.Config;
declare const endpoint: AnyEndpoint, endpoints: AnyEndpoint[];
declare const shop: CloudEndpoint, github: WebhookVerification, brex: WebhookVerification;
declare const trafficPolicy: TrafficPolicy;
declare const secret: string, githubSecret: pulumi.Output<string>, brexSecret: pulumi.Output<string>;
declare const stack: TestStack, emulator: Emulator;
`;

/** A part of the SDK that Pulumi generates for the public service's Terraform provider. */
const GENERATED = `declare module "@pulumi/ngrok" {
  import { CustomResource, type CustomResourceOptions, type Input, type Output } from "@pulumi/pulumi";
  export class Domain extends CustomResource {
    constructor(name: string, args: { domain: Input<string> }, options?: CustomResourceOptions);
    readonly domain: Output<string>;
    readonly cnameTarget: Output<string>;
  }
}`;

const inPrelude = (fragment: string) =>
  `${prelude}export async function fragment() {\n${fragment.replace(/^export /gm, "")}\n}\n`;

const isWhole = ({ code }: Block) => /^import /m.test(code);
const isRefused = ({ outcome }: Mistake) => outcome === "does not compile";

/** The compiler's messages about each program, with the built package and these files beside them. */
function errorsIn(programs: string[], beside: Record<string, string>): string[][] {
  const examples = join(root, "examples");
  const { config, error } = ts.readConfigFile(join(examples, "tsconfig.json"), ts.sys.readFile);
  expect(error).toBeUndefined();
  const folder = programFolder();
  const named = programs.map((text, index): [string, string] => [join(folder, `${index}.ts`), text]);
  const others = Object.entries(beside).map(([name, text]): [string, string] => [join(folder, name), text]);
  for (const [file, text] of [...named, ...others]) writeFileSync(file, text);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, examples);
  const files = [...named, ...others].map(([file]) => file);
  const program = ts.createProgram(files, {
    ...options,
    typeRoots: [join(root, "node_modules/@types")],
  });
  return named.map(([file]) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(file))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n")),
  );
}

test("every program of a page or the schema in TypeScript compiles as it is, every fragment with the prelude, and each mistake of the page for assistants unless the page says otherwise", () => {
  const blocks = pages
    .flatMap((page) => blocksOf(page))
    .filter(({ language }) => /^(ts|typescript)$/.test(language));
  expect(blocks.length).toBeGreaterThan(20);
  const imports = ["pulumi-endpoints", "pulumi-endpoints/testing"].map((entry) => {
    const names = namesIn(`Exports of \`${entry}\``);
    expect(names.length).toBeGreaterThan(4);
    return `import { ${names.map((name) => `type ${name}`).join(", ")} } from "${entry}";`;
  });
  const compiling = mistakes.filter((mistake) => !isRefused(mistake)).flatMap(({ wrong }) => wrong);
  const ofAssistants = [
    ...imports,
    ...programs,
    ...[...mistakes.map(({ right }) => right), ...compiling].map(withPrelude),
  ];
  const texts: [place: string, text: string][] = [
    ...blocks.map((block): [string, string] => [
      `${block.page}:${block.line}`,
      isWhole(block) ? block.code : inPrelude(block.code),
    ]),
    ...ofAssistants.map((text): [string, string] => ["docs/llms.md", text]),
    ...examplesIn("typescript").map(({ name, code }): [string, string] => [`the schema's ${name}`, code]),
  ];
  const refused = mistakes.filter(isRefused).flatMap(({ wrong }) => wrong.map(withPrelude));
  // A test on the page imports the program above it.
  const shop = blocks.find(({ code }) => code.includes("export const shop = new CloudEndpoint"))?.code ?? "";
  const errors = errorsIn([...texts.map(([, text]) => text), ...refused], {
    "shop.ts": shop,
    "ngrok.d.ts": GENERATED,
  });
  const found = texts.flatMap(([place], index) => (errors[index] ?? []).map((error) => `${place}: ${error}`));
  expect(found).toEqual([]);
  expect(errors.slice(texts.length)).toEqual([
    ["Domain", "Edge", "Tunnel"].map((name) => expect.stringContaining(`no exported member '${name}'`)),
    [expect.stringContaining("'traffic_policy' does not exist in type 'CloudEndpointArgs'")],
    [expect.stringContaining("cannot use 'await' at the top level")],
  ]);
});
