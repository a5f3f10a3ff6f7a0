import { execFile } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import type { ResourceValidationArgs, ResourceValidationPolicy } from "@pulumi/policy";
import { describe, expect, test } from "vitest";
import { owned, restricted, secretsInVault } from "../../examples/policy-pack/rules";
import { PROVIDER_TYPE, TYPES } from "../../provider/api/config";
import { CloudEndpoint, Provider, WebhookVerification } from "../../sdk";
import { findPulumiCli } from "../../sdk/testing";
import { temporaryFolder } from "../folders";
import { root } from "../package/pack";

/** Checks a type as `@pulumi/policy` does: it calls `isInstance` with an object that has only the type. */
const isOf = (type: string) => (resource: object) =>
  "isInstance" in resource && (resource.isInstance as (object: object) => boolean)({ __pulumiType: type });

test.each([
  [CloudEndpoint, [TYPES.dynamic, TYPES.plugin]],
  [Provider, [PROVIDER_TYPE]],
  [WebhookVerification, ["endpoints:index:WebhookVerification"]],
])("policy packs recognize %o by its type with both providers", (resource, types) => {
  for (const type of types) expect(isOf(type)(resource)).toBe(true);
  expect(isOf("aws:s3/bucket:Bucket")(resource)).toBe(false);
});

const deny = { on_http_request: [{ actions: [{ type: "deny" }] }] };
const answer = { on_http_request: [{ actions: [{ type: "custom-response" }] }] };
const basicAuth = (credentials: string) => ({
  on_http_request: [{ actions: [{ type: "basic-auth", config: { credentials: [credentials] } }] }],
});
const url = "https://shop.example.com";

describe.each(Object.values(TYPES))("the policy pack, for resources of type %s,", (type) => {
  function violations({ validateResource }: ResourceValidationPolicy, props: object): string[] {
    const found: string[] = [];
    const args = { type, props, isType: isOf(type), notApplicable: () => {} };
    for (const validate of [validateResource ?? []].flat())
      void validate(args as unknown as ResourceValidationArgs, (message) => found.push(message));
    return found;
  }

  test.each<[ResourceValidationPolicy, object, number]>([
    [restricted, { url, trafficPolicy: answer }, 1],
    [restricted, { url, trafficPolicy: deny }, 0],
    [restricted, { url, trafficPolicy: JSON.stringify(deny) }, 0],
    [restricted, { url }, 1],
    [restricted, { url, bindings: ["internal"] }, 0],
    [restricted, { url: "https://shop.internal" }, 0],
    [owned, { url }, 1],
    [owned, { url, metadata: { owner: "shop" } }, 0],
    [secretsInVault, { url, trafficPolicy: basicAuth("user:password") }, 1],
    [secretsInVault, { url, trafficPolicy: basicAuth("$" + "{secrets.get('shop', 'login')}") }, 0],
  ])("the rule %o reports for the resource %o this number of violations: %i", (policy, props, count) => {
    expect(violations(policy, props)).toHaveLength(count);
  });
});

const cli = await findPulumiCli();

test.runIf(cli).each(Object.keys(TYPES))(
  "the CLI refuses an endpoint that violates the policy pack, with the %s provider",
  async (kind) => {
    const folder = temporaryFolder();
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const plugin = join(root, "provider", "plugin");
    writeFileSync(
      join(folder, "Pulumi.yaml"),
      `name: pack\nruntime: nodejs\nmain: index.js\nplugins: { providers: [{ name: endpoints, path: ${plugin} }] }\n`,
    );
    writeFileSync(
      join(folder, "index.js"),
      `new (require("pulumi-endpoints").CloudEndpoint)("shop", { url: "${url}" });`,
    );
    const env = {
      ...process.env,
      PATH: `${dirname(cli ?? "")}${delimiter}${process.env["PATH"]}`,
      PULUMI_BACKEND_URL: `file://${folder}`,
      PULUMI_CONFIG_PASSPHRASE: "x",
      PULUMI_HOME: join(folder, "home"),
      ENDPOINTS_API_KEY: "key",
      ENDPOINTS_BASE_URL: "http://127.0.0.1:9",
      ENDPOINTS_PROVIDER: kind,
    };
    const pulumi = (...args: string[]) => promisify(execFile)(cli ?? "", args, { cwd: folder, env });
    await pulumi("stack", "init", "dev");
    const refused = pulumi("preview", "--policy-pack", join(root, "examples", "policy-pack"));
    await expect(refused).rejects.toMatchObject({
      stdout: expect.stringMatching(/\[mandatory\]\s+endpoint-has-owner[\s\S]*public-endpoint-is-restricted/),
    });
  },
  120_000,
);
