import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { packageSchema } from "../../docs/generate/packageSchema";
import { settingFields } from "../../provider/api/config";
import { inputFields } from "../../provider/endpoint/fields";

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

test("the package schema has every input of the resource and every setting", () => {
  expect(packageSchema()).toMatchObject({
    provider: { inputProperties: expect.toSatisfy((all: object) => sameKeys(all, settingFields)) },
    resources: {
      "endpoints:index:CloudEndpoint": {
        inputProperties: expect.toSatisfy((all: object) => sameKeys(all, inputFields)),
        requiredInputs: ["url"],
      },
    },
  });
});

test("no setting has a default, because a generated SDK would store it for every explicit provider", () => {
  expect(JSON.stringify(packageSchema())).not.toMatch(/"default(Info)?":/);
});

const sameKeys = (a: object, b: object) =>
  Object.keys(a).sort().join(" ") === Object.keys(b).sort().join(" ");
