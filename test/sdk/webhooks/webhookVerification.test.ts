import * as pulumi from "@pulumi/pulumi";
import { afterEach, beforeAll, describe, expect, expectTypeOf, test, vi } from "vitest";
import { mergeTrafficPolicy, WebhookVerification, type WebhookVerificationArgs } from "../../../sdk";
import { type AccountPlan, plans } from "../../../sdk/webhooks/webhookArgs";
import { checkField, type WebhookField } from "../../../sdk/webhooks/webhookChecks";
import { quotaWarning } from "../../../sdk/webhooks/webhookVerification";
import { mockEngine, onUnhandled } from "../program";

beforeAll(() => mockEngine());
afterEach(() => vi.restoreAllMocks());

const CANARY = "CANARY-71aa";

/** Constructs a component as JavaScript can, with arguments of any type. */
const create = (name: string, args?: unknown) => new WebhookVerification(name, args as never);

/** An output that is unknown, as in a preview. Pulumi does not declare the constructor of its class. */
function unknownOutput(): pulumi.Output<string> {
  const Output = pulumi.Output as unknown as new (...parts: unknown[]) => pulumi.Output<string>;
  const [value, known, secret] = [undefined, false, false].map((each) => Promise.resolve(each));
  return new Output(new Set(), value, known, secret, Promise.resolve(new Set()));
}

/** The warnings and errors that a program reports, without duplicates. */
async function reported(program: () => void): Promise<string[]> {
  const texts = new Set<string>();
  vi.spyOn(console, "warn").mockImplementation((text: string) => void texts.add(text));
  // Pulumi rejects a second time, when it sends the component's outputs: the set drops the duplicate.
  onUnhandled((error) => texts.add(error.message + error.stack));
  program();
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  return [...texts].sort();
}

test("mistakes in the inputs are reported all at once, for all components", async () => {
  const texts = await reported(() => {
    create("a", { provider: "github", secret: "shared" });
    create("b", { platform: "github", secret: "" });
    create("c", pulumi.output({ platform: "github" }));
    create("d");
  });
  expect(texts).toEqual([
    expect.stringMatching(/^a: platform is missing/),
    expect.stringMatching(/^a: provider is no input of a webhook verification; did you mean platform\?$/),
    expect.stringMatching(/^b: secret is empty/),
    expect.stringMatching(/^c: platform is missing/),
    "c: the inputs must be an object, as in { platform, secret }",
    expect.stringMatching(/^d: platform is missing: it must be text, as in github$/),
  ]);
});

test("a merged policy without an action that answers gets a warning", async () => {
  const verification = create("a", { platform: "github", secret: "shared" });
  expect(await reported(() => mergeTrafficPolicy({ on_http_request: [] }, verification))).toEqual([
    expect.stringMatching(/mergeTrafficPolicy: no action after the verification answers/),
  ]);
});

test("a value that is no data in a merged policy is reported with its place", async () => {
  const verification = create("a", { platform: "github", secret: "shared" });
  const merge = (policy: object) => reported(() => mergeTrafficPolicy(policy, verification));
  expect(await merge({ on_http_request: [{ name: new Date(), actions: [{ type: "deny" }] }] })).toEqual([
    expect.stringMatching(/^mergeTrafficPolicy: the policy contains at on_http_request\[0\]\.name a Date, /),
  ]);
  const cyclic: Record<string, unknown> = { actions: [{ type: "deny" }] };
  cyclic["name"] = cyclic;
  expect(await merge({ on_http_request: [cyclic] })).toEqual([
    expect.stringMatching(/contains at on_http_request\[0\]\.name an object that contains itself/),
  ]);
  const bytes = Buffer.from("on_http_request: []");
  expect(await merge(bytes)).toEqual([
    expect.stringMatching(/^mergeTrafficPolicy: the policy contains a Buffer, .* with utf8/),
  ]);
  expect(await merge(pulumi.output(bytes))).toEqual([
    expect.stringMatching(/^mergeTrafficPolicy: the policy has only numbers for phases/),
  ]);
});

describe("an unknown platform", () => {
  const unnamed = /is not in the catalogue; ignore this if the service now supports it/;
  // biome-ignore format: one line for each platform
  test.each<[string, unknown, unknown, RegExp]>([
    ["is named with the nearest known platform", "sonatype_nexus", "shared", /^warning: \[runtime\] a: platform "sonatype_nexus" is not in the catalogue; did you mean sonatype\?$/],
    ["is not named if it is marked as a secret", pulumi.secret(CANARY), "shared", unnamed],
    ["is not named if it does not look like an identifier", `${CANARY}+/=`, "shared", unnamed],
    ["is not named if the secret is still unknown, so the two may be swapped", CANARY, unknownOutput(), unnamed],
    ["is reported as swapped with the secret if that is a platform", CANARY, "github", /^a: platform and secret seem to be swapped$/],
  ])("%s", async (_, platform, secret, message) => {
    const texts = await reported(() => create("a", { platform, secret }));
    expect(texts).toEqual([expect.stringMatching(message)]);
    expect(texts.join()).not.toContain("CANARY");
  });
});

test("more than 500 deliveries a month of free accounts cause a warning", () => {
  const text = (b: number, plan?: AccountPlan) =>
    quotaWarning([
      { name: "a", deliveries: 499, plan: undefined },
      { name: "b", deliveries: b, plan },
    ])?.text;
  expect(text(1, "free")).toBeUndefined();
  expect(text(2)).toMatch(
    /^501 webhook deliveries a month are expected \(a 499, b 2\).*500.*plan: "pay-as-you-go"/,
  );
  for (const plan of plans) if (plan !== "free") expect(text(9999, plan)).toBeUndefined();
});

test("an expression that misspells a header's name gets a warning, unless it is secret or unknown", async () => {
  const asks = (name: string) => `req.headers['${name}'][0] == 'push'`;
  const args = { platform: "github", secret: "shared" };
  const texts = await reported(() => {
    create("a", { ...args, expressions: [asks("x-a"), asks("X-GitHub-Event")] });
    create("b", { ...args, expressions: [pulumi.secret(asks(CANARY))] });
    create("c", { ...args, expressions: [unknownOutput()] });
  });
  expect(texts).toEqual([
    "warning: [runtime] a: expressions[1] (character 13) looks for X-GitHub-Event with req.headers, which never matches: write x-github-event",
  ]);
});

describe("the input", () => {
  const UPSTREAM = /^agent.upstream must be a port from 1 to 65535, or a URL, as in http:\/\/localhost:8080/;
  // biome-ignore format: one line for each mistake
  test.each<[WebhookField, unknown, RegExp]>([
    ["platform", undefined, /^platform is missing/],
    ["enforce", "no", /^enforce must be true or false/],
    ["expressions", "req.method == 'POST'", /^expressions must be a list/],
    ["agent", {}, /^agent.upstream .*must be a port/],
    ["agent", { upstream: 0 }, UPSTREAM],
    ["agent", { upstream: "http://localhost:8080/hooks" }, /^agent.upstream has a path, query or fragment.*http:\/\/localhost:8080/],
    ["agent", { upstream: 80, url: "tcp://a.example.com:1" }, /^agent.url must be an http or https URL/],
    ["agent", { port: 8080 }, /^agent\.port is no input; agent must have an upstream, .* a url$/],
    ["agentConfigVersion", 4, /^agentConfigVersion must be 2 or 3/],
    ["expectedDeliveriesPerMonth", -1, /must not be negative/],
    ["plan", "gold", /^plan must be free, hobbyist, pay-as-you-go, pro or enterprise$/],
  ])("%s refuses %j in a message that names the field", (field, value, words) => {
    const result = checkField(field, value);
    const mistakes = "mistakes" in result ? result.mistakes : [];
    expect(mistakes.map(({ path, reason }) => `${path} ${reason}`)).toEqual([expect.stringMatching(words)]);
  });

  test.each<[WebhookField, unknown, unknown]>([
    ["agent", { upstream: "8080" }, { upstream: 8080 }],
    ["agent", { upstream: "https://[::1]:8443/" }, { upstream: "https://[::1]:8443/" }],
    ["agent", { upstream: 80, url: "HTTPS://A.io:443/" }, { upstream: 80, url: "https://a.io" }],
  ])("%s accepts %j", (field, value, parsed) => {
    expect(checkField(field, value)).toEqual({ value: parsed });
  });
});

test("the types require a secret for every platform and accept unknown platforms", () => {
  type Outputs = { platform: "somebody_new"; secret: pulumi.Output<string>; enforce: pulumi.Output<boolean> };
  expectTypeOf<{ platform: "sns" }>().not.toExtend<WebhookVerificationArgs>();
  expectTypeOf<Outputs>().toExtend<WebhookVerificationArgs>();
  expectTypeOf<{ platform: "github"; secret: "s"; plan: "gold" }>().not.toExtend<WebhookVerificationArgs>();
  expectTypeOf<WebhookVerification["agentConfig"]>().toEqualTypeOf<pulumi.Output<string | undefined>>();
});
