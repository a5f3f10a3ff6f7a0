import { describe, expect, test } from "vitest";
import { service, thrown } from "../service";

const url = "https://shop.example.com";

/* The service documents a status for few of its codes, so each step is the same under every status it could have. */
describe.each([
  [
    "the plan",
    18008,
    "no cloud endpoints",
    /plan has no cloud endpoints: change it \(Pay-as-you-go has them\), or use a key/,
  ],
  ["the plan", 18019, "no pooling", /plan has no pooling: change it .*or take poolingEnabled out/],
  [
    "the plan",
    2256,
    "the action is not available",
    /Change the account's plan, or take the action .* out of trafficPolicy/,
  ],
  [
    "the plan",
    2263,
    "paid features",
    /Change the account's plan, or take what needs a paid plan out of trafficPolicy/,
  ],
  [
    "a limit",
    18010,
    "too many cloud endpoints",
    /as many cloud endpoints as it may have: delete one, or change the account's plan/,
  ],
  ["a limit", 18020, "too many in the pool", /The pool of this URL is full: delete one of its endpoints/],
  [
    "a limit",
    18021,
    "too many at once",
    /those of agents included: stop or delete one, or change the account's plan/,
  ],
  ["a limit", 2264, "too many rules", /Give trafficPolicy fewer rules, or change the account's plan/],
  ["a limit", 2265, "too many actions", /Shorten the rule of trafficPolicy that the service names/],
  [
    "the address",
    220,
    "not from there",
    /restricts its API to certain IP addresses: run the command from one of them/,
  ],
  ["the account", 204, "no access", /does not let this account, or the user of this key, use its API/],
  [
    "the bindings",
    18018,
    "not with kubernetes",
    /binding kubernetes takes http, tls or tcp: change url, or bindings/,
  ],
  [
    "the bindings",
    15005,
    "unknown binding",
    /Correct bindings: the service knows public, internal and kubernetes/,
  ],
] as const)("a refusal because of %s (%i: %s)", (_, code, msg, step) => {
  test.each([400, 401, 402, 403, 409, 422])("names the next step, with status %i", async (status) => {
    const { api, emulator } = await service();
    emulator.intercept("create", { status, body: { error_code: `ERR_NGROK_${code}`, msg } });
    const { message } = await thrown(api.create({ url }));
    expect(message).toContain(`status ${status}, ERR_NGROK_${code} ${msg}`);
    expect(message).toMatch(step);
    expect(message).not.toMatch(/API key was refused|may not do this/);
    expect(emulator.requests).toHaveLength(1);
  });
});

test("a policy that is refused with a code of another kind is to be corrected", async () => {
  const { api, emulator } = await service();
  emulator.intercept("create", {
    status: 400,
    body: { error_code: "ERR_NGROK_2201", msg: "unknown action" },
  });
  expect((await thrown(api.create({ url }))).message).toMatch(
    /ERR_NGROK_2201 unknown action\. Correct trafficPolicy\.$/,
  );
});

test("a create that the plan does not allow reaches the user with the next step, though the URL is looked up first", async () => {
  const { core, emulator } = await service();
  emulator.intercept("create", { status: 400, body: { error_code: "ERR_NGROK_18008", msg: "no access" } });
  expect((await thrown(core.create({ url }))).message).toMatch(
    /^cannot create https:\/\/shop\.example\.com: .*ERR_NGROK_18008 no access\. The account's plan has no cloud endpoints/,
  );
});
