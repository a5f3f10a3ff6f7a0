import { expect, test } from "vitest";
import { FIRST, policyOf, SECOND, startBrexStack, startEnvironment } from "./example";
import { errors, failure, methods, onBothDrivers } from "./setup";

/* What `examples.test.ts` leaves out, which runs each example once. */

onBothDrivers("the example environments", (_, driver) => {
  test("gives dev and prod the same program and fragments, each with its own settings", async () => {
    const dev = await startEnvironment("dev", driver);
    const prod = await startEnvironment("prod", driver, { emulator: dev.emulator });

    // Both are on one account, side by side.
    expect(methods(await dev.up({ skipPreview: true }))).toEqual(["POST", "POST"]);
    expect(methods(await prod.up({ skipPreview: true }))).toEqual(["POST", "POST"]);

    expect(policyOf(dev, "https://shop.example.com")).toEqual([
      ["rate-limit", expect.objectContaining({ capacity: 120 })],
      ["forward-internal", { url: "https://shop.prod.internal" }],
    ]);

    // A change of one environment's setting is a change of its endpoints alone.
    await prod.setConfig("environments:maintenance", "true");
    const change = await prod.up({ skipPreview: true });
    expect(methods(change)).toEqual(["PATCH", "PATCH"]);
    expect(policyOf(dev, "https://api.example.com").at(-1)).toEqual([
      "custom-response",
      expect.objectContaining({ status_code: 503 }),
    ]);
  });

  test("refuses a stack that is no environment, before any request", async () => {
    const stack = await startEnvironment("dev", driver, { stackName: "staging" });
    const result = await failure(stack.preview());
    expect(errors(result).join()).toContain("the stack staging is no environment: select dev or prod");
    expect(result.requests).toEqual([]);
  });
});

onBothDrivers("the example brex", (_, driver) => {
  test("asks for a secret where Brex has none yet, and follows a rotation", async () => {
    const { stack, brex } = await startBrexStack(driver);
    expect(errors(await failure(stack.preview())).join()).toMatch(
      /brex: secret is empty. Get it from Brex's API/,
    );
    brex.secrets = [{ secret: FIRST, status: "ACTIVE" }];
    await stack.up({ skipPreview: true });
    brex.secrets = [
      { secret: FIRST, status: "PENDING_REVOKE" },
      { secret: SECOND, status: "ACTIVE" },
    ];
    expect(methods(await stack.up({ skipPreview: true }))).toEqual(["PATCH"]);
  });
});
