import { expect, test } from "vitest";
import { nextStep } from "../../../provider/api/nextSteps";
import { service, thrown } from "../service";

const stepFor = (status: number, number: number) =>
  nextStep(
    { status, code: `ERR_NGROK_${number}`, message: undefined, operationId: undefined },
    { keyIsConfigured: false },
  ) ?? "";

/* The service documents the status of only a few codes, so the step must not depend on it. */
test.each([
  [204, /does not let this account/],
  [220, /IP addresses/],
  [2235, /action that answers/],
  [2256, /plan.*trafficPolicy/],
  [2263, /plan.*trafficPolicy/],
  [2264, /fewer rules/],
  [2265, /Shorten the rule/],
  [15005, /Correct bindings/],
  [18008, /plan has no cloud endpoints/],
  [18010, /its limit of cloud endpoints/],
  [18011, /Give trafficPolicy/],
  [18018, /change url, or bindings/],
  [18023, /remove the port from url/],
  [18019, /plan has no pooling/],
  [18020, /pool of this URL is full/],
  [18021, /including those of agents/],
])("code %i has its next step with any status", (number, step) => {
  const steps = new Set([400, 401, 402, 403, 409, 422].map((status) => stepFor(status, number)));
  expect([...steps]).toEqual([expect.stringMatching(step)]);
});

test("another code for policies has the next step to correct trafficPolicy", () => {
  expect(stepFor(400, 2201)).toBe("Correct trafficPolicy.");
});

test("a create that the plan does not allow fails with that next step", async () => {
  const { core, emulator } = await service();
  emulator.intercept("create", { status: 400, body: { error_code: "ERR_NGROK_18008", msg: "no access" } });
  expect((await thrown(core.create({ url: "https://shop.example.com" }))).message).toMatch(
    /^cannot create https:\/\/shop\.example\.com: .*ERR_NGROK_18008 no access\. The account's plan has no cloud endpoints/,
  );
});
