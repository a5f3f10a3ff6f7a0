import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { policySchema } from "../../docs/generate/policySchema";
import { actions } from "../../sdk/traffic-policy/policy/index";
import {
  isOfShape,
  mistakes,
  moreRightPolicies,
  rightPolicies,
} from "../../sdk/traffic-policy/test/policy/cases";
import { UNKNOWN } from "../../sdk/traffic-policy/test/unknown";

const validate = new Ajv({ strict: true }).compile(policySchema());

describe("the JSON Schema of policies", () => {
  test("describes every phase, action and key", () => {
    const text = JSON.stringify(policySchema());
    expect(text.match(/"description":""/g)).toBeNull();
    expect(text.match(/"description":/g)?.length).toBeGreaterThan(110);
    for (const type of Object.keys(actions)) expect(text).toContain(`{"const":"${type}","description":"`);
  });

  const more = moreRightPolicies.filter(([, policy]) => !JSON.stringify(policy).includes(UNKNOWN));
  const right = [...rightPolicies, ...more].map(([what, policy]) => ({ what, policy }));
  test.each(right)("accepts $what", ({ policy }) => {
    expect(validate(policy), JSON.stringify(validate.errors)).toBe(true);
  });

  test.each(mistakes.filter(isOfShape))("refuses %s", (_, policy) => {
    expect(validate(policy)).toBe(false);
  });
});
