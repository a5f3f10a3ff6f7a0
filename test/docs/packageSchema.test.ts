import { expect, test } from "vitest";
import { packageSchema } from "../../docs/generate/packageSchema";
import { inputFields } from "../../provider/endpoint/fields";
import { settingFields } from "../../provider/service/settings";
import * as sdk from "../../sdk";
import { webhookFields } from "../../sdk/webhooks/webhookChecks";

const schema = packageSchema();

/** All parts of the schema with their paths. */
function partsOf(value: unknown, path = ""): { path: string; name: string; part: unknown }[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [
    { path, name, part },
    ...partsOf(part, `${path}.${name}`),
  ]);
}
const parts = partsOf(schema);

test("every property of the package schema has its documentation", () => {
  const properties = parts.filter(({ path }) => /[pP]roperties$|\.variables$/.test(path));
  expect(properties.length).toBeGreaterThan(50);
  expect(properties.filter(({ part }) => !Object(part).description)).toEqual([]);
});

test("every description stands alone, and names only what programs in every language have", () => {
  const names = new Set(["deleteBeforeReplace", ...parts.map(({ name }) => name.split(":").at(-1))]);
  const descriptions = parts.filter(({ name, part }) => name === "description" && typeof part === "string");
  expect(descriptions.length).toBeGreaterThan(50);
  for (const { path, part } of descriptions) {
    const [prose = ""] = String(part).split("{{% examples %}}");
    expect(prose.trimEnd(), path).toMatch(/^(CEL|[A-Z][a-z]*) [\s\S]*\.$/);
    expect(prose, path).not.toMatch(/\b(above|below|undefined|promise|RunError|pulumi\.Input)\b/i);
    const camelCase = [...prose.matchAll(/`([A-Za-z]+[a-z][A-Z]\w*)`/g)].map(([, name]) => name);
    const unknown = camelCase.filter((name) => !names.has(name));
    expect(unknown, path).toEqual([]);
  }
});

test("the package schema has the name, the category and the kind that Pulumi's registry shows", () => {
  const keywords = expect.arrayContaining(["pulumi", "category/network", "kind/native"]);
  expect(schema).toMatchObject({ displayName: "Cloud Endpoints", keywords });
});

const keysOf = (fields: object) =>
  expect.toSatisfy((all: object) => Object.keys(all).sort().join() === Object.keys(fields).sort().join());
const open = (name: string) => ({
  oneOf: [{ type: "string" }, { $ref: `#/types/endpoints:index:${name}` }],
});

test("the package schema has every input and setting, secret outputs, and lets an editor offer known values of an open input", () => {
  // `pulumi import` prints the values by these names.
  const values = Object.entries(sdk.Binding).map(([name, value]) => ({ name, value }));
  expect(schema).toMatchObject({
    types: { "endpoints:index:Binding": { enum: values } },
    provider: { inputProperties: keysOf(settingFields) },
    resources: {
      "endpoints:index:CloudEndpoint": { inputProperties: keysOf(inputFields), requiredInputs: ["url"] },
      "endpoints:index:WebhookVerification": {
        inputProperties: keysOf(webhookFields),
        properties: {
          trafficPolicy: { secret: true },
          agentOptions: { secret: true },
          agentConfig: { secret: true },
        },
      },
    },
  });
  expect(schema).toMatchObject({
    resources: {
      "endpoints:index:CloudEndpoint": { inputProperties: { bindings: { items: open("Binding") } } },
      "endpoints:index:WebhookVerification": {
        inputProperties: { platform: open("WebhookPlatform"), plan: open("AccountPlan") },
      },
    },
    functions: {
      "endpoints:index:getEndpoints": { inputs: { properties: { types: { items: open("EndpointType") } } } },
    },
  });
});

test("no setting has a default, because a generated SDK would store it for every explicit provider", () => {
  expect(JSON.stringify(schema)).not.toMatch(/"default(Info)?":/);
});

test("every name that pulumi convert takes from the schema for a Node program is an export of the package", () => {
  type Part = { enum?: { name: string; value: unknown }[] };
  const { types = {}, functions = {}, resources = {} } = schema as Record<string, Record<string, Part>>;
  const nameOf = (token: string) => token.split(":").at(-1) ?? "";
  const exported = new Map<string, unknown>(Object.entries(sdk));
  for (const [token, { enum: values }] of Object.entries(types)) {
    const members = values && Object.fromEntries(values.map(({ name, value }) => [name, value]));
    expect(exported.get(nameOf(token)), token).toEqual(members);
  }
  const called = Object.keys(functions).map((token) => `${nameOf(token)}Output`);
  for (const name of [...Object.keys(resources).map(nameOf), ...called])
    expect(exported.get(name), name).toBeTypeOf("function");
});
