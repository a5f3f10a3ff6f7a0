import { describe, expect, test } from "vitest";
import { UNKNOWN } from "../../provider/pulumi/sentinels";
import { resourceWarnings, ruleWarnings } from "../../sdk/policyWarnings";
import { act, onRequest, rule } from "../../sdk/traffic-policy/test/policy/cases";

describe("the warnings of a resource", () => {
  test("give the line in a text, and the place in an object", () => {
    const trafficPolicy = "on_http_request:\n- actions:\n  - type: dney\n";
    expect(resourceWarnings({ trafficPolicy })).toEqual([
      'trafficPolicy.on_http_request[0].actions[0].type (line 3) "dney" is no action known to this version; did you mean deny?',
    ]);
    expect(resourceWarnings({ trafficPolicy: onRequest(rule(act("dney"))) })[0]).toMatch(
      /^trafficPolicy\.on_http_request\[0\]\.actions\[0\]\.type "dney" is no action/,
    );
    expect(resourceWarnings({ trafficPolicy: {} })[0]).toMatch(/^trafficPolicy has no action that answers/);
  });

  test("are at most eleven lines", () => {
    const trafficPolicy = onRequest(...Array.from({ length: 50 }, () => rule(act("dney"))));
    const lines = resourceWarnings({ trafficPolicy });
    expect(lines).toHaveLength(11);
    expect(lines.at(-1)).toMatch(/there are more warnings/);
  });

  test("are none for values that are not known yet, or in part", () => {
    const texts = [UNKNOWN, `https://${UNKNOWN}`, `\${${UNKNOWN}}`];
    const forwards = texts.map((url) => rule(act("forward-internal", { url })));
    expect(resourceWarnings({ trafficPolicy: onRequest(...forwards), url: UNKNOWN })).toEqual([]);
    expect(resourceWarnings({ trafficPolicy: UNKNOWN })).toEqual([]);
  });

  test("for the expressions of a rule give the place in the text", () => {
    expect(ruleWarnings(["req.hots", UNKNOWN])).toEqual([
      expect.stringMatching(/^expressions\[0\] \(character 1\) uses req\.hots/),
    ]);
  });
});
