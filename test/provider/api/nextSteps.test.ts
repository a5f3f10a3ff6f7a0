import { expect, test } from "vitest";
import { nextStep } from "../../../provider/api/nextSteps";
import { service } from "../service";

const stepFor = (status: number, number: number) =>
  nextStep(
    { status, code: `ERR_NGROK_${number}`, message: undefined, operationId: undefined },
    { keyIsConfigured: false },
  ) ?? "";

/* The service documents the status of only a few codes, so the step must not depend on it. */
test.each([
  [204, /does not let this account/],
  [220, /IP addresses/],
  [249, /Correct url/],
  [2201, /^Correct trafficPolicy: the service does not know the type of an action\.$/],
  [2207, /^Correct trafficPolicy: an action never runs/],
  [2235, /action that answers/],
  [2256, /plan.*trafficPolicy/],
  [2262, /^Correct trafficPolicy: .* no phase on_tcp_connect\.$/],
  [2263, /plan.*trafficPolicy/],
  [2264, /fewer rules/],
  [2265, /fewer expressions or actions in each rule/],
  [15005, /Correct bindings/],
  [18002, /^Correct trafficPolicy\.$/],
  [18003, /Give url a port/],
  [18005, /to replace the endpoint/],
  [18007, /Correct bindings/],
  [18008, /plan has no cloud endpoints/],
  [18010, /its limit of cloud endpoints/],
  [18011, /Give trafficPolicy/],
  [18012, /Shorten description to 255/],
  [18013, /Shorten metadata to 4096/],
  [18014, /Correct the inputs/],
  [18018, /change url, or bindings/],
  [18023, /remove the port from url/],
  [18019, /plan has no pooling/],
  [18020, /pool of this URL is full/],
  [18021, /including those of agents/],
])("code %i has its next step with any status", (number, step) => {
  const steps = new Set([400, 401, 402, 403, 409, 422].map((status) => stepFor(status, number)));
  expect([...steps]).toEqual([expect.stringMatching(step)]);
});

test("every documented code for a policy that the service refuses says what is wrong, and another one that it is the policy", () => {
  // There is no page for 2220.
  const documented = Array.from({ length: 37 }, (_, nth) => 2200 + nth).filter((number) => number !== 2220);
  for (const number of [...documented, 2262]) expect(stepFor(400, number)).not.toBe("Correct trafficPolicy.");
  for (const number of [2220, 2299]) expect(stepFor(400, number)).toBe("Correct trafficPolicy.");
});

test("a create that the plan does not allow fails with that next step", async () => {
  const { core, emulator } = await service();
  emulator.intercept("create", { status: 400, body: { error_code: "ERR_NGROK_18008", msg: "no access" } });
  await expect(core.create({ url: "https://shop.example.com" })).rejects.toThrow(
    /^cannot create https:\/\/shop\.example\.com: .*ERR_NGROK_18008 no access\. The account's plan has no cloud endpoints/,
  );
});
