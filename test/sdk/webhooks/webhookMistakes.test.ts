import * as pulumi from "@pulumi/pulumi";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { mergeTrafficPolicy, WebhookVerification } from "../../../sdk";

beforeAll(async () => {
  await pulumi.runtime.setMocks({
    newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs }),
    call: () => ({}),
  });
});
afterEach(() => vi.restoreAllMocks());

const CANARY = "CANARY-71aa";

/** As plain JavaScript calls it, with anything. */
const create = (name: string, args?: unknown) => new WebhookVerification(name, args as never);

/** An output as it is in a preview, of a resource that is not there yet. Its class has no constructor that is declared. */
function notKnown(): pulumi.Output<string> {
  const Output = pulumi.Output as unknown as new (...parts: unknown[]) => pulumi.Output<string>;
  const [value, known, secret] = [undefined, false, false].map((each) => Promise.resolve(each));
  return new Output(new Set(), value, known, secret, Promise.resolve(new Set()));
}

/** Everything that a program with this in it would be told, each once: warnings, and errors as Pulumi prints them. */
async function told(program: () => void): Promise<string[]> {
  const texts = new Set<string>();
  vi.spyOn(console, "warn").mockImplementation((text: string) => void texts.add(text));
  // Pulumi prints what nobody caught. The test runner would take it for its own.
  const listeners = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", (error: Error) => {
    // The prefix is Pulumi's, which finds the mistake again when it sends the component's outputs.
    texts.add((error.message + error.stack).replace('error serializing property "outputs": ', ""));
  });
  try {
    program();
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.removeAllListeners("unhandledRejection");
    for (const listener of listeners) process.on("unhandledRejection", listener);
  }
  return [...texts].sort();
}

describe("mistakes in the inputs", () => {
  test("are told together, those of all components, also where one has an input that there is none of", async () => {
    const texts = await told(() => {
      create("a", { provider: "github", secret: "shared" });
      create("b", { platform: "github", secret: "" });
    });
    expect(texts).toEqual([
      expect.stringMatching(/^a: platform is missing/),
      expect.stringMatching(/^a: provider is no input of a webhook verification; did you mean platform\?$/),
      expect.stringMatching(/^b: secret is empty/),
    ]);
  });

  test("are told in words where there are no inputs at all, or no object", async () => {
    expect(await told(() => create("a"))).toEqual([
      expect.stringMatching(/^a: platform is missing: it must be text, as in github$/),
    ]);
    for (const inputs of ["github", ["github"], pulumi.output({ platform: "github" })]) {
      expect(await told(() => create("a", inputs))).toContain(
        "a: the inputs must be an object, as in { platform, secret }",
      );
    }
  });
});

test("a merge without a verification is told with the mistakes of the components", async () => {
  const texts = await told(() => {
    for (const none of [[], undefined, ["github"]]) mergeTrafficPolicy({}, none as never);
    create("b", { platform: "github", secret: "" });
  });
  expect(texts).toEqual([
    expect.stringMatching(/^b: secret is empty/),
    expect.stringMatching(/^mergeTrafficPolicy: the list of verifications is empty/),
    expect.stringMatching(
      /^mergeTrafficPolicy: what is to be verified must be a WebhookVerification, or a list/,
    ),
  ]);
});

describe("a platform that the catalogue does not have", () => {
  const unknownTo = /is not in the catalogue; if the service supports it/;

  test("is named in a warning, with what may have been meant", async () => {
    expect(await told(() => create("a", { platform: "sonatype_nexus", secret: "shared" }))).toEqual([
      expect.stringMatching(/a: platform "sonatype_nexus" is not in the catalogue; did you mean sonatype\?$/),
    ]);
  });

  test.each([
    ["it is marked as a secret", pulumi.secret(CANARY), "shared"],
    ["it does not look like an identifier", `${CANARY}+/=`, "shared"],
    ["a secret that it may be swapped with is not known yet", CANARY, notKnown()],
  ])("is not named where %s", async (_, platform, secret) => {
    const texts = await told(() => create("a", { platform, secret }));
    expect(texts).toEqual([expect.stringMatching(unknownTo)]);
    expect(texts.join()).not.toContain("CANARY");
  });

  test("and a secret that is a platform are told to be swapped, without either", async () => {
    const texts = await told(() => create("a", { platform: CANARY, secret: "github" }));
    expect(texts).toEqual(["a: platform and secret seem to be swapped"]);
  });

  test("is not in the sentence on where its secret comes from", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const { secretSource } = create("a", { platform: CANARY, secret: "shared" });
    const sentence = await new Promise<string>((resolve) => secretSource.apply(resolve));
    expect(sentence).toMatch(/does not have this platform/);
  });
});

test("deliveries of two components with one name are both counted", async () => {
  const parents = ["x", "y"].map((name) => new pulumi.ComponentResource("test:index:Parent", name));
  const texts = await told(() => {
    for (const parent of parents) {
      const args = { platform: "github", secret: "shared", expectedDeliveriesPerMonth: 300 } as const;
      new WebhookVerification("hooks", args, { parent });
    }
  });
  expect(texts).toEqual([
    expect.stringMatching(
      /600 webhook deliveries .*\(hooks 300, hooks 300\), and a free account verifies 500/,
    ),
  ]);
});

describe("a header in another spelling than the service's", () => {
  const asks = "req.headers['X-GitHub-Event'][0] == 'push'";
  const args = { platform: "github", secret: "shared" };

  test("is told with the right one, and blocks nothing", async () => {
    const texts = await told(() => {
      create("a", { ...args, expressions: ["req.headers['x-a'][0] == 'B'", asks] });
      create("b", { ...args, expressions: [pulumi.output("hasReqHeader('X-GitHub-Event')")] });
    });
    expect(texts).toEqual([
      "warning: [runtime] a: expressions[1] asks req.headers for X-GitHub-Event where the service has x-github-event; in another spelling it finds no header",
      "warning: [runtime] b: expressions[0] asks hasReqHeader for X-GitHub-Event where the service has X-Github-Event; in another spelling it finds no header",
    ]);
  });

  test("is told of a merged policy's own rules too, once, in each form that policies have", async () => {
    const rules = [{ expressions: [asks], actions: [{ type: "deny" }] }];
    for (const policy of [{ on_http_request: rules }, JSON.stringify({ on_http_request: rules })]) {
      const texts = await told(() => {
        mergeTrafficPolicy(policy, create("a", { ...args, expressions: [asks] }));
      });
      expect(texts).toEqual([
        expect.stringMatching(/a: expressions\[0\] asks req.headers for X-GitHub-Event/),
        expect.stringMatching(/mergeTrafficPolicy: on_http_request\[0\].expressions\[0\] asks req.headers/),
      ]);
    }
  });

  test("is told without its name where that is a part of a secret, and not while it is unknown", async () => {
    const secret = pulumi.secret(asks.replace("X-GitHub-Event", CANARY));
    const texts = await told(() => {
      create("a", { ...args, expressions: [secret] });
      create("b", { ...args, expressions: [notKnown()] });
      mergeTrafficPolicy(
        { on_http_request: [{ expressions: [secret], actions: [{ type: "deny" }] }] },
        create("c", args),
      );
    });
    expect(texts).toEqual([
      expect.stringMatching(
        /a: expressions\[0\] asks req.headers for a name where the service has lower case/,
      ),
      expect.stringMatching(
        /mergeTrafficPolicy: on_http_request\[0\].expressions\[0\] asks req.headers for a/,
      ),
    ]);
    expect(texts.join()).not.toContain("CANARY");
  });
});
