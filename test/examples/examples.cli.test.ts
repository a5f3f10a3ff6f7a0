import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, type TestContext, test } from "vitest";
import { findPulumiCli } from "../../sdk/testing";
import { cli } from "../projects";
import {
  accounts,
  agentConfig,
  answer,
  type Example,
  forwardTo,
  runExample,
  SECRET,
  secretSource,
  urlsOf,
  verify,
} from "./runExample";

/* The examples in other languages, which the test kit does not run, and one in TypeScript. */

const pythonDoor = (name: string) => ({
  [`https://${name}.example.com`]: [{ type: "add-headers" }, forwardTo(`https://${name}.internal`)],
});

const inOtherLanguages: [name: string, language: "go" | "python" | "yaml", Example][] = [
  ...(["python", "yaml"] as const).map((language): [string, typeof language, Example] => [
    `quickstart-${language}`,
    language,
    {
      outputs: { url: "https://shop.example.com", endpointId: expect.stringMatching(/^ep_/) },
      creates: { "https://shop.example.com": [answer] },
    },
  ]),
  [
    "go",
    "go",
    {
      config: () => ({ githubSecret: { secret: SECRET } }),
      outputs: { url: "https://hooks.example.com", secretSource, agentConfig },
      creates: { "https://hooks.example.com": [verify("github"), forwardTo("https://github.internal")] },
      signed: "github",
    },
  ],
  [
    "python",
    "python",
    {
      config: () => ({ stripeSecret: { secret: SECRET } }),
      outputs: {
        urls: urlsOf("acme", "globex", "payments"),
        "not connected": ["acme", "globex"],
        agentConfig,
      },
      creates: {
        ...{ ...pythonDoor("acme"), ...pythonDoor("globex") },
        "https://payments.example.com": [verify("stripe"), forwardTo("https://payments.internal")],
      },
      signed: "stripe",
    },
  ],
  [
    "yaml",
    "yaml",
    {
      config: ({ partner }) => ({
        webhookSecret: { secret: SECRET },
        partnerKey: { secret: partner.apiKey },
        partnerUrl: partner.baseUrl,
      }),
      outputs: {
        webhookUrl: "https://hooks.example.com",
        statusUrl: "https://status.example.com",
        agents: ["ep_shop"],
      },
      creates: {
        "https://hooks.example.com": [verify("github"), forwardTo("https://hooks.internal")],
        "https://status.example.com": [answer],
      },
      ofPartner: "https://status.example.com",
    },
  ],
];

test.skipIf(!cli)("the example accounts has its outputs and endpoints on the Pulumi CLI", () =>
  runExample("accounts", accounts, "cli"),
);
for (const [name, language, example] of inOtherLanguages)
  test.skipIf(!cli || !(await findPulumiCli(undefined, language)))(
    `the example ${name} has its outputs and endpoints on the Pulumi CLI`,
    (context) => runExample(name, example, "cli", (folder) => install(folder, context)),
  );

/** Generates the SDK, and installs the packages of the language. Skips the test if there is no network. */
async function install(folder: string, context: TestContext): Promise<void> {
  const env = { ...process.env, PULUMI_HOME: join(folder, "home") };
  const fail = ({ message, stdout }: Error & { stdout?: string }) => {
    const isUnreachable = /dial tcp|no such host|GOPROXY|No matching distribution|executable file not found/;
    context.skip(isUnreachable.test(message + stdout), "the packages of this language are out of reach");
    throw new Error(message + stdout);
  };
  await promisify(execFile)("pulumi", ["install"], { cwd: folder, env }).catch(fail);
}
