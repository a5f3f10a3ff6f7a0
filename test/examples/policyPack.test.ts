import type {
  ResourceValidationArgs,
  ResourceValidationPolicy,
  StackValidationArgs,
  StackValidationPolicy,
} from "@pulumi/policy";
import { describe, expect, test } from "vitest";
import { owned, poolsAgree, restricted, secretsInVault } from "../../examples/policy-pack/rules";
import { PROVIDER_TYPE, TYPES } from "../../provider/pulumi/typeTokens";
import { CloudEndpoint, Provider, WebhookVerification } from "../../sdk";

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
  function violations(policy: ResourceValidationPolicy | StackValidationPolicy, ...all: object[]): string[] {
    const found: string[] = [];
    const resources = all.map((props) => ({ type, props, isType: isOf(type) }));
    const report = (message: string) => found.push(message);
    const rest = { notApplicable: () => {} };
    if ("validateStack" in policy)
      void policy.validateStack({ resources, ...rest } as unknown as StackValidationArgs, report);
    else
      for (const validate of [policy.validateResource ?? []].flat())
        for (const resource of resources)
          void validate({ ...resource, ...rest } as unknown as ResourceValidationArgs, report);
    return found;
  }

  test.each<[ResourceValidationPolicy, object, number]>([
    [restricted, { url, trafficPolicy: answer }, 1],
    [restricted, { url, trafficPolicy: deny }, 0],
    [restricted, { url, trafficPolicy: JSON.stringify(deny) }, 0],
    [restricted, { url }, 1],
    [restricted, { url: "https://shop.internal" }, 0],
    [owned, { url }, 1],
    [owned, { url, metadata: { owner: "shop" } }, 0],
    // The form in which `pulumi policy analyze` shows a value that it cannot decrypt.
    [restricted, { url, trafficPolicy: "[secret]" }, 0],
    [secretsInVault, { url, trafficPolicy: basicAuth("user:password") }, 1],
    [secretsInVault, { url, trafficPolicy: basicAuth("$" + "{secrets.get('shop', 'login')}") }, 0],
  ])("the rule %o reports for the resource %o this number of violations: %i", (policy, props, count) => {
    expect(violations(policy, props)).toHaveLength(count);
  });

  const denying = { url, trafficPolicy: JSON.stringify(deny) };
  test.each<[string, object, number]>([
    ["another policy", { url, trafficPolicy: JSON.stringify(answer) }, 1],
    ["the same policy as data, as at a preview", { url, trafficPolicy: deny }, 0],
    ["an unknown policy", { url, trafficPolicy: "[secret]" }, 0],
    ["another URL", { url: "https://api.example.com", trafficPolicy: JSON.stringify(answer) }, 0],
  ])("the rule of the stack compares an endpoint of a pool with one that has %s", (_, other, count) => {
    expect(violations(poolsAgree, denying, other)).toHaveLength(count);
  });
});
