import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import {
  type Emulator,
  type SignedPlatform,
  signWebhook,
  TestStack,
  type TestStackOptions,
} from "../../sdk/testing";
import { plainIn } from "../e2e/setup";
import { emulatedService } from "../emulatedService";
import { listening } from "../provider/servers";
import { copyOf } from "./copyOf";

/* Runs an example, and checks its outputs and endpoints. */

/** The secret of webhooks, in a form that each platform takes. */
export const SECRET = "Q0FOQVJZLTdmM2MtQ0FOQVJZLTdmM2M=";

/** The services beside an example: the account of a partner, and Brex's API. */
interface ExampleContext {
  partner: Emulator;
  brexApi: string;
}

export interface Example {
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

export const forwardTo = (url: string) => ({ type: "forward-internal", config: { url } });
export const verify = (provider: string) => ({
  type: "verify-webhook",
  config: { provider, secret: SECRET },
});
export const answer = { type: "custom-response" };
export const urlsOf = (...names: string[]) => names.map((name) => `https://${name}.example.com`);
export const agentConfig = expect.stringContaining(SECRET);
export const secretSource = expect.stringMatching(/^[A-Z]\S* /);

/** The one example in TypeScript that also runs on the CLI. */
export const accounts: Example = {
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
};

/** @param prepare What the copy of the example needs before its first run. */
export async function runExample(
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
