import { describe, expect, test } from "vitest";
import { checkField, unknownField, type WebhookField } from "../../../sdk/webhooks/webhookSettings";

const problems = (field: WebhookField, value: unknown) => {
  const result = checkField(field, value);
  return "problems" in result ? result.problems.join("; ") : undefined;
};

describe("inputs", () => {
  test.each<[WebhookField, unknown, RegExp]>([
    ["platform", undefined, /^platform is missing/],
    ["platform", "", /^platform must not be empty/],
    ["platform", 7, /^platform must be text/],
    ["secret", 7, /^secret must be text/],
    ["enforce", "no", /^enforce must be true or false/],
    ["expressions", [], /^expressions must hold an expression/],
    ["expressions", "req.method == 'POST'", /^expressions must be a list/],
    ["agent", {}, /^agent.upstream .*must be a port/],
    ["agent", { upstream: 0 }, /^agent.upstream must be a port from 1 to 65535, or a URL/],
    ["agent", { upstream: 70_000 }, /^agent.upstream must be/],
    ["agent", { upstream: "localhost:8080" }, /^agent.upstream must be .* http:\/\/localhost:8080/],
    ["agent", { upstream: "ftp://files" }, /^agent.upstream must be/],
    [
      "agent",
      { upstream: "http://localhost:8080/hooks" },
      /^agent.upstream has a path.*http:\/\/localhost:8080/,
    ],
    ["agent", { upstream: "http://localhost:8080/?a=1" }, /^agent.upstream has a path, query/],
    ["agent", { upstream: "http://localhost:8080#a" }, /^agent.upstream has a path, query or fragment/],
    ["agent", { upstream: 80, url: "tcp://a.example.com:1" }, /^agent.url must be of http or https/],
    ["agent", { upstream: 80, url: "https://a.example.com/path" }, /^agent.url has a path/],
    ["agent", { upstream: 80, adress: "x" }, /^agent must hold an upstream/],
    ["agentConfigVersion", 4, /^agentConfigVersion must be 2 or 3/],
    ["expectedDeliveriesPerMonth", -1, /must not be negative/],
    ["plan", "gold", /^plan must be free, pro or enterprise/],
  ])("%s: %j is told by name", (field, value, words) => {
    expect(problems(field, value)).toMatch(words);
  });

  test.each<[WebhookField, unknown, unknown]>([
    ["agent", { upstream: "8080" }, { upstream: 8080 }],
    ["agent", { upstream: "http://localhost:80" }, { upstream: "http://localhost:80" }],
    ["agent", { upstream: "https://[::1]:8443/" }, { upstream: "https://[::1]:8443/" }],
    [
      "agent",
      { upstream: 80, url: "HTTPS://A.Example.com:443/" },
      { upstream: 80, url: "https://a.example.com" },
    ],
    ["agentConfigVersion", undefined, undefined],
    ["platform", "somebody_new", "somebody_new"],
  ])("%s: %j is taken", (field, value, taken) => {
    expect(checkField(field, value)).toEqual({ value: taken });
  });

  test("that there are none of are told, with what was meant", () => {
    expect(unknownField("provider")).toMatch(/did you mean platform/);
    expect(unknownField("toString")).toMatch(/the inputs are platform, secret/);
    expect(unknownField("secret")).toBeUndefined();
  });
});
