import { describe, expect, test } from "vitest";
import { quotaWarning } from "../../../sdk/webhooks/webhookWarnings";

describe("the deliveries of an account", () => {
  const of = (...expected: [string, number, ("free" | "pro" | "enterprise")?][]) =>
    quotaWarning(expected.map(([name, deliveries, plan]) => ({ name, deliveries, plan })))?.text;

  test("are summed over the components, and 500 a month are enough for none to be told", () => {
    expect(of(["a", 499], ["b", 1, "free"])).toBeUndefined();
    expect(of(["a", 499], ["b", 2, "free"])).toMatch(
      /^501 webhook deliveries a month are expected \(a 499, b 2\).*500.*plan: "pro"/,
    );
  });

  test("have no limit on a paid plan, which one component names for all", () => {
    expect(of(["a", 9999], ["b", 1, "pro"])).toBeUndefined();
    expect(of(["a", 9999, "enterprise"])).toBeUndefined();
  });
});
