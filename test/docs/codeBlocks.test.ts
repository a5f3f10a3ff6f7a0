import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as ts from "typescript";
import { describe, expect, test } from "vitest";
import { parseDocument } from "yaml";
import { root } from "../package/pack";
import { errorsIn } from "./compiler";

/* What a reader copies from the README and the docs into a project that `new` made. */

interface Block {
  page: string;
  line: number;
  language: string;
  code: string;
}

const pages = [
  "README.md",
  ...readdirSync(join(root, "docs")).flatMap((file) => (file.endsWith(".md") ? [`docs/${file}`] : [])),
];

const blocks = pages.flatMap((page): Block[] => {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
    ({ index, 1: language = "", 2: code = "" }) => ({
      page,
      line: text.slice(0, index).split("\n").length,
      language,
      code,
    }),
  );
});

const blocksIn = (...languages: string[]) => blocks.filter(({ language }) => languages.includes(language));

/** What the fragments use of the text around them. */
const prelude = `import * as pulumi from "@pulumi/pulumi";
import { type AnyEndpoint, CloudEndpoint, getEndpoints, getEndpointsOutput, mergeAgentConfigs, mergeTrafficPolicy, Provider, readJson, type TrafficPolicy, type WebhookPlatform, WebhookVerification } from "pulumi-endpoints";
import { Emulator, gatewayReply, signWebhook, TestStack } from "pulumi-endpoints/testing";
import { expect } from "vitest";
import { z } from "zod";
declare const config: pulumi.Config;
declare const endpoint: AnyEndpoint, endpoints: AnyEndpoint[];
declare const shop: CloudEndpoint, github: WebhookVerification, brex: WebhookVerification;
declare const trafficPolicy: TrafficPolicy;
declare const secret: string, githubSecret: pulumi.Output<string>, brexSecret: pulumi.Output<string>;
declare const stack: TestStack, emulator: Emulator, application: { port: number };
`;

/** A part of the SDK that Pulumi generates for the public service's Terraform provider. */
const GENERATED = `declare module "@pulumi/ngrok" {
  import { CustomResource, type Input, type Output } from "@pulumi/pulumi";
  export class Domain extends CustomResource {
    constructor(name: string, args: { domain: Input<string> });
    readonly domain: Output<string>;
  }
}`;

const inPrelude = (fragment: string) =>
  `${prelude}export async function fragment() {\n${fragment.replace(/^export /gm, "")}\n}\n`;

test("every program in TypeScript compiles as it is, and every fragment with what the text around it names", () => {
  const programs = blocksIn("ts", "typescript");
  expect(programs.length).toBeGreaterThan(30);
  const isWhole = ({ code }: Block) => /^import /m.test(code);
  const texts = programs.map((block) => (isWhole(block) ? block.code : inPrelude(block.code)));
  // A test on the page imports the program above it.
  const shop = programs.find(({ code }) => code.includes("export const shop = new CloudEndpoint"));
  const errors = errorsIn(texts, { "shop.ts": shop?.code ?? "", "ngrok.d.ts": GENERATED });
  const found = programs.flatMap(({ page, line }, index) =>
    (errors[index] ?? []).map((error) => `${page}:${line}: ${error}`),
  );
  expect(found).toEqual([]);
});

describe("every block parses", () => {
  test.each(blocksIn("js"))("$page:$line, $language", ({ code }) => {
    const { diagnostics } = ts.transpileModule(code, {
      reportDiagnostics: true,
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
    });
    expect(diagnostics?.map(({ messageText }) => messageText)).toEqual([]);
  });

  test.each(blocksIn("yaml", "json"))("$page:$line, $language", ({ code, language }) => {
    if (language === "json") expect(() => JSON.parse(code)).not.toThrow();
    else expect(parseDocument(code).errors.map(({ message }) => message)).toEqual([]);
  });

  test.each(blocksIn("sh"))("$page:$line, $language", ({ code }) => {
    execFileSync("sh", ["-n"], { input: code, stdio: ["pipe", "ignore", "pipe"] });
  });

  test.skipIf(!hasPython()).each(blocksIn("python"))("$page:$line, $language", ({ code }) => {
    const parse = "import ast, sys; ast.parse(sys.stdin.read())";
    execFileSync("python3", ["-c", parse], { input: code, stdio: ["pipe", "ignore", "pipe"] });
  });
});

function hasPython(): boolean {
  try {
    execFileSync("python3", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
