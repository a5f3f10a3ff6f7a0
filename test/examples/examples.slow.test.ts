import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, type TestContext, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
// This example is a test itself.
import "../../examples/policy-tests/policy.test";
import {
  type Emulator,
  findPulumiCli,
  type SignedPlatform,
  signWebhook,
  TestStack,
  type TestStackOptions,
} from "../../sdk/testing";
import { plainIn } from "../e2e/setup";
import { emulatedService } from "../emulatedService";
import { listening } from "../provider/servers";
import { copyOf } from "./copyOf";

/*
 * The outputs and endpoints of each example, in programs of every language. `test/package` runs the quickstart.
 * `policy-pack`, `gitops` and the rest of `tenants` have tests of their own.
 */

/** The secret of webhooks, in a form that each platform takes. */
const SECRET = "Q0FOQVJZLTdmM2MtQ0FOQVJZLTdmM2M=";

/** The services beside an example: the account of a partner, and Brex's API. */
interface ExampleContext {
  partner: Emulator;
  brexApi: string;
}

interface Example {
  /** The stack, whose settings may be in a file. Default: `test`. */
  stackName?: string;
  config?: (around: ExampleContext) => TestStackOptions["config"];
  /** The program in place of the example's own. */
  index?: string;
  outputs: object;
  /** The actions of each new endpoint, by its URL. */
  creates: Record<string, object[]>;
  /** The URL of the endpoint in the partner's account. */
  ofPartner?: string;
  /** Only webhooks that this platform has signed pass the cloud endpoint and the agent of the output `agentConfig`. */
  signed?: SignedPlatform;
}

const forwardTo = (url: string) => ({ type: "forward-internal", config: { url } });
const verify = (provider: string) => ({ type: "verify-webhook", config: { provider, secret: SECRET } });
const answer = { type: "custom-response" };
const urlsOf = (...names: string[]) => names.map((name) => `https://${name}.example.com`);
const agentConfig = expect.stringContaining(SECRET);
const secretSource = expect.stringMatching(/^[A-Z]\S* /);
const pythonDoor = (name: string) => ({
  [`https://${name}.example.com`]: [{ type: "add-headers" }, forwardTo(`https://${name}.internal`)],
});

const inNode: [name: string, Example][] = [
  [
    "lookup",
    {
      outputs: {
        url: "https://shop.example.com",
        table: [
          { id: "ep_edge", type: "edge", url: "tls://edge.example.com", servedBy: expect.any(String) },
          {
            id: "ep_shop",
            type: "ephemeral",
            url: "https://shop.internal",
            servedBy: "http://localhost:8080",
          },
        ],
      },
      creates: { "https://shop.example.com": [forwardTo("https://shop.internal")] },
    },
  ],
  [
    "accounts",
    {
      config: ({ partner }) => ({
        "accounts:partnerApiKey": { secret: partner.apiKey },
        "accounts:partnerBaseUrl": partner.baseUrl,
      }),
      outputs: {
        urls: ["https://shop.example.com", "https://shop.partner.example.com"],
        partnerServes: ["https://shop.partner.example.com"],
      },
      creates: { "https://shop.example.com": [answer], "https://shop.partner.example.com": [answer] },
      ofPartner: "https://shop.partner.example.com",
    },
  ],
  [
    "environments",
    {
      stackName: "dev",
      outputs: { urls: urlsOf("shop.dev", "api.dev") },
      creates: Object.fromEntries(
        ["shop", "api"].map((name) => [
          `https://${name}.dev.example.com`,
          [
            { type: "restrict-ips", config: { enforce: true, allow: ["192.0.2.0/24", "2001:db8::/32"] } },
            { type: "rate-limit", config: { capacity: 600 } },
            forwardTo(`https://${name}.dev.internal`),
          ],
        ]),
      ),
    },
  ],
  [
    "environments",
    {
      stackName: "prod",
      config: () => ({ "environments:maintenance": "true" }),
      outputs: { urls: urlsOf("shop", "api") },
      creates: Object.fromEntries(
        urlsOf("shop", "api").map((url) => [
          url,
          [
            { type: "rate-limit", config: { capacity: 120 } },
            { type: "custom-response", config: { status_code: 503 } },
          ],
        ]),
      ),
    },
  ],
  [
    "calendly",
    {
      config: () => ({ "calendly:signingKey": { secret: SECRET } }),
      outputs: {
        subscription: {
          url: "https://hooks.example.com",
          events: ["invitee.created", "invitee.canceled"],
          scope: "user",
          signing_key: SECRET,
        },
        agentConfig,
        secretSource,
      },
      creates: { "https://hooks.example.com": [verify("calendly"), forwardTo("https://calendly.internal")] },
      signed: "calendly",
    },
  ],
  [
    "brex",
    {
      config: ({ brexApi }) => ({ "brex:brexToken": { secret: "a token" }, "brex:brexApi": brexApi }),
      outputs: {
        registration: { url: "https://hooks.example.com", event_types: ["USER_UPDATED"] },
        agentConfig,
        secretSource,
      },
      creates: { "https://hooks.example.com": [verify("brex"), forwardTo("https://brex.internal")] },
      signed: "brex",
    },
  ],
  [
    "tenants",
    {
      index:
        'import { programOf } from "./tenant";\nexport = programOf({ name: "acme", hosts: ["a.example.com"] });\n',
      outputs: { urls: ["https://a.example.com"] },
      creates: { "https://a.example.com": [forwardTo("https://acme.internal")] },
    },
  ],
];

/** On the Pulumi CLI alone, since the test kit runs programs for Node.js. */
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

const cli = await findPulumiCli();
test.each(inNode)("the example %s has its outputs and endpoints on the test kit's engine", (...row) =>
  runExample(...row, "kit"),
);
test.skipIf(!cli).each(inNode)("the example %s has its outputs and endpoints on the Pulumi CLI", (...row) =>
  runExample(...row, "cli"),
);
for (const [name, language, example] of inOtherLanguages)
  test.skipIf(!cli || !(await findPulumiCli(undefined, language)))(
    `the example ${name} does so on the Pulumi CLI`,
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

async function runExample(
  name: string,
  { stackName, config, index, outputs, creates, ofPartner, signed }: Example,
  driver: NonNullable<TestStack["driver"]>,
  prepare: (folder: string) => Promise<void> = async () => {},
): Promise<void> {
  const program = copyOf(name);
  if (index) writeFileSync(join(program, "index.ts"), index);
  await prepare(program);
  const partner = await emulatedService();
  const stack = await TestStack.create({
    program,
    driver,
    // Go compiles the program.
    longestRun: 280,
    ...(stackName && { stackName }),
    config: {
      ...settingsIn(join(program, `Pulumi.${stackName}.yaml`)),
      ...config?.({ partner, brexApi: await startBrex() }),
    },
  });
  onTestFinished(() => stack.close());
  const { emulator } = stack;
  const agent = { url: "https://shop.internal", upstream_url: "http://localhost:8080" };
  emulator.seed({ type: "ephemeral", id: "ep_shop", ...agent });
  if (name === "lookup") emulator.seed({ type: "edge", id: "ep_edge", public_url: "tls://edge.example.com" });

  const up = await stack.up({ skipPreview: true });
  expect(up.outputs).toEqual(outputs);
  const created = [...emulator.endpoints, ...partner.endpoints].filter(({ type }) => type === "cloud");
  const actions = created.map(({ url, traffic_policy = "" }) => [url, actionsIn(traffic_policy)]);
  const all = Object.fromEntries(actions);
  expect(all).toMatchObject(creates);
  expect(Object.keys(all).sort()).toEqual(Object.keys(creates).sort());
  expect(partner.endpoints.map(({ url }) => url)).toEqual(ofPartner ? [ofPartner] : []);
  expect(up.text + plainIn(await stack.exportState())).not.toContain(SECRET);

  // `new` prints a request to this host.
  const { host } = JSON.parse(readFileSync(join(program, "package.json"), "utf8")).new ?? {};
  if (host) expect((await emulator.fetch(`https://${host}`)).status).toBe(200);
  if (signed) {
    const { agentConfig } = up.outputs;
    emulator.connect({ config: `${agentConfig}` }, () => new Response(null, { status: 201 }));
    const [front = ""] = Object.keys(creates).slice(-1);
    const statusOf = async (headers: Record<string, string>) =>
      (await emulator.fetch(front, { method: "POST", body: "{}", headers })).status;
    const signature = signWebhook(signed, { body: "{}", secret: SECRET });
    expect([await statusOf(signature), await statusOf({})]).toEqual([201, 403]);
  }
  await stack.destroy();
  expect(emulator.endpoints.filter(({ type }) => type === "cloud")).toEqual([]);
}

/** The settings in a stack's file, which goes, because the driver writes its own. */
function settingsIn(file: string): Record<string, string> {
  if (!existsSync(file)) return {};
  const { config } = z
    .object({ config: z.record(z.string(), z.unknown()) })
    .parse(parse(readFileSync(file, "utf8")));
  rmSync(file);
  const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, textOf(value)]));
}

const policySchema = z.object({ on_http_request: z.array(z.object({ actions: z.array(z.unknown()) })) });
const actionsIn = (policy: string) =>
  policySchema.parse(JSON.parse(policy)).on_http_request.flatMap(({ actions }) => actions);

/** Starts a server that lists webhook secrets as Brex's API does during a rotation, for one token. */
async function startBrex(): Promise<string> {
  const secrets = [
    { secret: "an older one", status: "PENDING_REVOKE" },
    { secret: SECRET, status: "ACTIVE" },
  ];
  const server = createServer(({ headers, url }, response) => {
    const isKnown = headers.authorization === "Bearer a token" && url === "/v1/webhooks/secrets";
    response.writeHead(isKnown ? 200 : 401).end(JSON.stringify(isKnown ? secrets : {}));
  });
  return `http://${await listening(server)}`;
}
