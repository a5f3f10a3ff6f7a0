import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { packageSchema } from "../../docs/generate/packageSchema";
import { settingFields } from "../../provider/api/settings";
import { inputFields } from "../../provider/endpoint/fields";
import { webhookFields } from "../../sdk/webhooks/webhookChecks";

test("the committed package schema is up to date", () => {
  const checkedIn: unknown = JSON.parse(readFileSync("provider/plugin/schema.json", "utf8"));
  expect(checkedIn, "run `npm run generate`").toEqual(JSON.parse(JSON.stringify(packageSchema())));
});

/** All parts of the schema with their paths. */
function partsOf(value: unknown, path = ""): { path: string; name: string; part: unknown }[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [
    { path, name, part },
    ...partsOf(part, `${path}.${name}`),
  ]);
}

test("every property of the package schema has its documentation", () => {
  const properties = partsOf(packageSchema()).filter(({ path }) => /[pP]roperties$|\.variables$/.test(path));
  expect(properties.length).toBeGreaterThan(50);
  const undocumented = properties.filter(({ part }) => !Object(part).description);
  expect(undocumented).toEqual([]);
});

test("every description stands alone, and names only what programs in every language have", () => {
  const parts = partsOf(packageSchema());
  const names = new Set(["deleteBeforeReplace", ...parts.map(({ name }) => name.split(":").at(-1))]);
  const descriptions = parts.filter(({ name, part }) => name === "description" && typeof part === "string");
  expect(descriptions.length).toBeGreaterThan(50);
  for (const { path, part } of descriptions) {
    const [prose = ""] = String(part).split("{{% examples %}}");
    expect(prose.trimEnd(), path).toMatch(/^(CEL|[A-Z][a-z]*) [\s\S]*\.$/);
    expect(prose, path).not.toMatch(/\b(above|below|undefined|promise|RunError|pulumi\.Input)\b/i);
    const camelCase = [...prose.matchAll(/`([A-Za-z]+[a-z][A-Z]\w*)`/g)].map(([, name]) => name);
    expect(
      camelCase.filter((name) => !names.has(name)),
      path,
    ).toEqual([]);
  }
});

test("the package schema has every input of the resource and every setting", () => {
  expect(packageSchema()).toMatchObject({
    provider: { inputProperties: expect.toSatisfy((all: object) => sameKeys(all, settingFields)) },
    resources: {
      "endpoints:index:CloudEndpoint": {
        inputProperties: expect.toSatisfy((all: object) => sameKeys(all, inputFields)),
        requiredInputs: ["url"],
      },
      "endpoints:index:WebhookVerification": {
        inputProperties: expect.toSatisfy((all: object) => sameKeys(all, webhookFields)),
        properties: {
          trafficPolicy: { secret: true },
          agentOptions: { secret: true },
          agentConfig: { secret: true },
        },
      },
    },
  });
});

test("no setting has a default, because a generated SDK would store it for every explicit provider", () => {
  expect(JSON.stringify(packageSchema())).not.toMatch(/"default(Info)?":/);
});

const sameKeys = (a: object, b: object) =>
  Object.keys(a).sort().join(" ") === Object.keys(b).sort().join(" ");

test("an editor offers the values that are known, and other text passes", () => {
  const { resources, functions, types } = packageSchema() as Record<string, Record<string, object>>;
  const open = (name: string) => ({
    oneOf: [{ type: "string" }, { $ref: `#/types/endpoints:index:${name}` }],
  });
  expect({ resources, functions, types }).toMatchObject({
    resources: {
      "endpoints:index:CloudEndpoint": { inputProperties: { bindings: { items: open("Binding") } } },
      "endpoints:index:WebhookVerification": {
        inputProperties: { platform: open("WebhookPlatform"), plan: open("AccountPlan") },
      },
    },
    functions: {
      "endpoints:index:getEndpoints": { inputs: { properties: { types: { items: open("EndpointType") } } } },
    },
    types: {
      "endpoints:index:Binding": {
        enum: [{ value: "public" }, { value: "internal" }, { value: "kubernetes" }],
      },
    },
  });
});
