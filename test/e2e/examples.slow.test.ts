import { expect, test } from "vitest";
import { FIRST, policyOf, SECOND, startBrexStack, startEnvironment } from "./example";
import { errors, failure, methods, onBothDrivers } from "./setup";

/* Further cases. `examples.test.ts` runs each example once. */

onBothDrivers("the example environments", (_, driver) => {
  test("deploys dev and prod from the same fragments, each with its own settings", async () => {
    const dev = await startEnvironment("dev", driver);
    const prod = await startEnvironment("prod", driver, { emulator: dev.emulator });

    // Both are on one account.
    expect(methods(await dev.up({ skipPreview: true }))).toEqual(["POST", "POST"]);
    expect(methods(await prod.up({ skipPreview: true }))).toEqual(["POST", "POST"]);

    expect(policyOf(dev, "https://shop.example.com")).toEqual([
      ["rate-limit", expect.objectContaining({ capacity: 120 })],
      ["forward-internal", { url: "https://shop.prod.internal" }],
    ]);

    // A change of an environment's setting changes only its endpoints.
    await prod.setConfig("environments:maintenance", "true");
    const change = await prod.up({ skipPreview: true });
    expect(methods(change)).toEqual(["PATCH", "PATCH"]);
    expect(policyOf(dev, "https://api.example.com").at(-1)).toEqual([
      "custom-response",
      expect.objectContaining({ status_code: 503 }),
    ]);
  });
});

onBothDrivers("the example brex", (_, driver) => {
  test("fails while Brex has no secret, and updates the endpoint after a rotation", async () => {
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
