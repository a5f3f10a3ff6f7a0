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

test("every property of the package schema has its documentation", () => {
  const undocumented: string[] = [];
  const visit = (value: unknown, path: string) => {
    if (typeof value !== "object" || value === null) return;
    for (const [name, part] of Object.entries(value)) {
      const isProperties = /[pP]roperties$|\.variables$/.test(path);
      if (isProperties && !(part as { description?: string }).description)
        undocumented.push(`${path}.${name}`);
      visit(part, `${path}.${name}`);
    }
  };
  visit(packageSchema(), "");
  expect(undocumented).toEqual([]);
});

test("every description stands alone, and names only what programs in every language have", () => {
  const descriptions: [path: string, text: string][] = [];
  const names = new Set(["deleteBeforeReplace"]);
  const visit = (value: unknown, path: string) => {
    if (typeof value !== "object" || value === null) return;
    for (const [name, part] of Object.entries(value)) {
      names.add(name.split(":").at(-1) ?? "");
      if (name === "description" && typeof part === "string") descriptions.push([path, part]);
      visit(part, `${path}.${name}`);
    }
  };
  visit(packageSchema(), "");
  for (const [path, text] of descriptions) {
    const [prose = ""] = text.split("{{% examples %}}");
    expect(prose.trimEnd(), path).toMatch(/^(CEL|[A-Z][a-z]*) [\s\S]*\.$/);
    expect(prose, path).not.toMatch(/\b(above|below|undefined|promise|RunError|pulumi\.Input)\b/i);
    const camelCase = [...prose.matchAll(/`([A-Za-z]+[a-z][A-Z]\w*)`/g)].map(([, name = ""]) => name);
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
