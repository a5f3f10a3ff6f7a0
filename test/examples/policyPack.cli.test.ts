import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { PulumiFailed, PulumiResult } from "../../sdk/pulumi-cli/index";
import { emulatedService } from "../emulatedService";
import { root } from "../package/pack";
import { Backend, cli } from "../projects";

/* Needs the full build: Pulumi compiles the pack with its types. */

const PROGRAM = `
const policy = (type, config) => ({ on_http_request: [{ actions: [{ type, config }] }] });
new CloudEndpoint("shop", { url: "https://shop.example.com" });
new endpoints.CloudEndpoint("api", {
  url: "https://api.example.com",
  metadata: { owner: "api" },
  trafficPolicy: policy("basic-auth", { credentials: [pulumi.secret("user:password")] }),
});
for (const status_code of [403, 404]) new CloudEndpoint("pool-" + status_code, {
  url: "https://pool.example.com",
  poolingEnabled: true,
  metadata: { owner: "pool" },
  trafficPolicy: policy("deny", { status_code }),
});`;

/** The output of a run that must fail. */
const failure = (run: Promise<PulumiResult>): Promise<string> =>
  run.then(
    () => expect.unreachable("the run succeeded"),
    ({ result: { stdout, stderr } }: PulumiFailed) => stdout + stderr,
  );

describe.skipIf(!cli)("with a copy of the policy pack, the Pulumi CLI", () => {
  test("refuses endpoints of both providers that violate it, and finds the violations of an exported state without a request", async () => {
    const emulator = await emulatedService();
    const stack = await new Backend(emulator).project(PROGRAM);
    const isOwn = (path: string) => !path.includes("node_modules", root.length);
    const pack = join(stack.folder, "policies");
    cpSync(join(root, "examples", "policy-pack"), pack, { recursive: true, filter: isOwn });
    const ofShop = /\[mandatory\]\s+endpoint-has-owner[\s\S]*public-endpoint-is-restricted/;
    const ofApi = /api\.example\.com: credentials of basic-auth is in plain text/;
    const refused = await failure(stack.pulumi("preview", "--policy-pack", "policies"));
    for (const violation of [ofShop, ofApi]) expect(refused).toMatch(violation);

    await stack.up();
    await stack.pulumi("stack", "export", "--file", "state.json");
    const requests = emulator.requests.length;
    const analyze = ["policy", "analyze", "--file", "state.json", "--policy-pack", "policies"];
    const found = await failure(stack.pulumi(...analyze));
    const ofPool = /pool\.example\.com is a pool whose endpoints have different policies/;
    for (const violation of [ofShop, ofApi, ofPool]) expect(found).toMatch(violation);
    expect(emulator.requests).toHaveLength(requests);
  });

  test("keeps the marks of secrets if a remediation returns the properties that it gets, and loses them in a copy", async () => {
    for (const [returned, isKept] of [
      ["args.props", true],
      ["{ ...args.props }", false],
    ] as const) {
      const stack = await new Backend(await emulatedService()).project(
        'new endpoints.CloudEndpoint("shop", { url: "https://shop.example.com", description: pulumi.secret("CANARY") });',
      );
      const pack = join(stack.folder, "policies");
      mkdirSync(pack);
      writeFileSync(join(pack, "PulumiPolicy.yaml"), "runtime: nodejs\n");
      writeFileSync(join(pack, "package.json"), '{ "name": "policies", "version": "1.0.0" }');
      const remediate = `(args) => { args.props.metadata = { owner: "shop" }; return ${returned}; }`;
      writeFileSync(
        join(pack, "index.js"),
        `new (require("@pulumi/policy").PolicyPack)("policies", { policies: [
          { name: "owner", description: "x", enforcementLevel: "remediate", remediateResource: ${remediate} },
        ] });`,
      );
      await stack.up("--policy-pack", "policies");
      const { stdout } = await stack.pulumi("stack", "export");
      expect(stdout).toContain("owner");
      expect(!stdout.includes("CANARY"), returned).toBe(isKept);
    }
  });
});
