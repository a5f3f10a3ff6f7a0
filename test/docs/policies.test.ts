import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { actionsPage } from "../../docs/generate/policyActions";
import { policySchema } from "../../docs/generate/policySchema";
import { hasUnknown } from "../../provider/endpoint/documents";
import { actions } from "../../provider/policy/catalogue";
import { policyWarnings } from "../../provider/policy/warnings";
import { isOfShape, mistakes, moreRightPolicies, rightPolicies } from "../provider/policy/cases";

const page = readFileSync("docs/policies.md", "utf8");
const validate = new Ajv({ strict: true }).compile(policySchema());

describe("the JSON Schema of policies", () => {
  test("is up to date", () => {
    const file = readFileSync("provider/policy/schema.json", "utf8");
    expect(JSON.parse(file), "run `npm run generate`").toEqual(JSON.parse(JSON.stringify(policySchema())));
  });

  test("describes every phase, action and key", () => {
    const text = JSON.stringify(policySchema());
    expect(text.match(/"description":""/g)).toBeNull();
    expect(text.match(/"description":/g)?.length).toBeGreaterThan(110);
    for (const type of Object.keys(actions)) expect(text).toContain(`{"const":"${type}","description":"`);
  });

  test.each(rightPolicies)("accepts %s", (_, policy) => {
    expect(validate(policy), JSON.stringify(validate.errors)).toBe(true);
  });

  test.each(moreRightPolicies.filter(([, policy]) => !hasUnknown(policy)))("accepts %s", (_, policy) => {
    expect(validate(policy), JSON.stringify(validate.errors)).toBe(true);
  });

  test.each(mistakes.filter(isOfShape))("refuses $what", ({ policy }) => {
    expect(validate(policy)).toBe(false);
  });
});

describe("the page on policies", () => {
  test("has an up-to-date list of actions beside it", () => {
    expect(readFileSync("docs/policy-actions.md", "utf8"), "run `npm run generate`").toBe(actionsPage());
  });

  const blocks = (language: string) =>
    [...page.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, "g"))].map(([, text = ""]) => text);

  test("has YAML examples that get no warning", () => {
    expect(blocks("yaml").length).toBeGreaterThan(1);
    for (const text of blocks("yaml")) {
      expect(policyWarnings(parse(text), { url: "https://a.example.com", isCloud: true }), text).toEqual([]);
    }
  });
});
