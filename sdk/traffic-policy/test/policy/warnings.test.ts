import { describe, expect, test } from "vitest";
import { pathText } from "../../../../provider/data/paths";
import { type ActionInfo, actions } from "../../policy/catalogue";
import { mayAnswer, policyWarnings, warningText } from "../../policy/warnings";
import { isUnknown, UNKNOWN } from "../unknown";
import { act, mistakes, moreRightPolicies, onRequest, rightPolicies, rule } from "./cases";

test("the catalogue knows which actions can answer, and an unknown action may", () => {
  const answering = Object.keys(actions).filter(mayAnswer);
  expect(answering).toEqual([
    "ai-gateway",
    "close-connection",
    "custom-response",
    "deny",
    "forward-internal",
    "redirect",
  ]);
  expect([mayAnswer("new-action"), mayAnswer(undefined), mayAnswer("toString")]).toEqual([true, true, true]);
});

describe("a mistake is reported with its place", () => {
  test.each(mistakes)("%s", (_, policy, at, reason, target) => {
    const warnings = policyWarnings(policy, target);
    expect(warnings.map(({ path }) => pathText(path))).toEqual([at].flat());
    for (const warning of warnings) expect(warning.reason).toMatch(reason);
  });

  /** The wrong names of an action and its keys, each in a policy, with the right name. */
  const otherNames = Object.entries<ActionInfo>(actions).flatMap(
    ([type, { misnamed = [], keys, phases }]) => {
      const policy = (action: object) => Object.fromEntries(phases.map((name) => [name, [rule(action)]]));
      const ofKeys = Object.entries(keys).flatMap(([key, { misnamed = [] }]) =>
        misnamed.map((other) => ({ other, policy: policy(act(type, { [other]: "a" })), right: key })),
      );
      return [...misnamed.map((other) => ({ other, policy: policy(act(other)), right: type })), ...ofKeys];
    },
  );
  test.each(otherNames)(
    "the other name $other of an action or a key, with the right one",
    ({ policy, right }) => {
      const reasons = policyWarnings(policy).map(({ reason }) => reason);
      expect(reasons).toContainEqual(expect.stringMatching(`did you mean ${right}\\?$`));
    },
  );
});

describe("there is no warning for", () => {
  test.each(rightPolicies)("%s", (_, policy) => expect(policyWarnings(policy)).toEqual([]));
  test.each(moreRightPolicies)("%s", (_, policy, target) =>
    expect(policyWarnings(policy, { ...target, isUnknown })).toEqual([]),
  );
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as policies have it
  test.each(["https://${vars.a}", "<your endpoint>", "$ENDPOINT", "{{ .Values.a }}", UNKNOWN])(
    "a value in which something is still to be filled in: %s",
    (url) =>
      expect(policyWarnings(onRequest(rule(act("forward-internal", { url }))), { isUnknown })).toEqual([]),
  );
  test.each([[undefined], [null], [UNKNOWN], ["text"], [[]], [7]])(
    "a value that is not a policy: %j",
    (policy) => expect(policyWarnings(policy, { isCloud: true, isUnknown })).toEqual([]),
  );
});

test("a deprecated name is never the advice", () => {
  const [warning] = policyWarnings(onRequest(rule(act("custom-response", { contents: "a" }))));
  expect(warning?.reason).toMatch(/; custom-response has status_code, body and headers$/);
});

test("a warning is one line that quotes no value", () => {
  const canary = "CANARY-77ab";
  const policy = onRequest(
    { name: canary, expressions: canary, actions: [act(canary, { [`key\n${"x".repeat(90)}`]: canary })] },
    rule(act("deny", { status_code: canary, body: canary }), act("forward-internal", canary)),
    canary,
  );
  const texts = policyWarnings(policy, { url: "https://a.example.com" }).map((one) => warningText(one, "it"));
  expect(texts.length).toBeGreaterThan(4);
  expect(texts.join("")).not.toContain(canary);
  for (const text of texts) expect(text).not.toContain("\n");
});

test("a policy has at most 100 warnings", () => {
  const policy = onRequest(...Array.from({ length: 1000 }, () => rule(act("dney", { a: 1 }))));
  expect(policyWarnings(policy)).toHaveLength(100);
});
