import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../package/pack";

/* The parts of the page for assistants. */

export const page = readFileSync(join(root, "docs", "llms.md"), "utf8");

/** The programs, in their order. */
export const programs = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);

export interface Mistake {
  /** Its row in the table, from 1. */
  row: number;
  wrong: string[];
  /** `preview warns`, `does not compile`. */
  outcome: string;
  /** A part of the message. Empty if the page shows none. */
  message: string;
  right: string;
}

const section = (heading: string) => page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";

/** The names before the colon of each bullet. */
export const namesIn = (heading: string): string[] =>
  [...section(heading).matchAll(/^- ([^:]+):/gm)].flatMap(([, names = ""]) => codeIn(names));

/** The rows of the table of mistakes. */
export const mistakes: Mistake[] = [
  ...section("Mistakes").matchAll(/^\| (`.+?) \| (.+?) \| (.+?) \|$/gm),
].map(([, wrong = "", happens = "", right = ""], index) => ({
  row: index + 1,
  wrong: codeIn(wrong).filter((code) => code.endsWith(";")),
  outcome: happens.split(/[:,]/)[0] ?? "",
  message: /: `(.+)`$/.exec(happens)?.[1] ?? "",
  right: codeIn(right)[0] ?? "",
}));

function codeIn(text: string): string[] {
  return [...text.matchAll(/(?<!`)(`{1,2})(?!`)(.+?)(?<!`)\1(?!`)/g)].map(([, , code = ""]) => code);
}

/** The declarations that the examples in the table use, as the page says. */
const prelude = `import * as pulumi from "@pulumi/pulumi";
import { CloudEndpoint, getEndpoint, getEndpointOutput, getEndpoints, getEndpointsOutput, mergeTrafficPolicy, rules, WebhookVerification } from "pulumi-endpoints";
const config = new pulumi.Config();
const url = "https://a.example.com";
const policy = { on_http_request: [rules.answer({ body: "hello" })] };
const hooks = new WebhookVerification("hooks", { platform: "github", secret: config.requireSecret("secret") });
const backend = new CloudEndpoint("backend", { url: "https://backend.internal", trafficPolicy: policy });
`;

/** A program with an example, in a module of its own. */
export const withPrelude = (code: string) => `${prelude}${code}\nexport {};\n`;
