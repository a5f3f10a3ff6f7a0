import { adopts } from "./adoptSetting";
import { at, error, type Scenario, scenario } from "./scenario";
import { TAKEN } from "./takenUrls";

/* Creates whose refusal has no code of the service, so that a gateway may have made it after the effect. */

const shop = { url: at("shop") };
const pooled = { ...shop, poolingEnabled: true };

/** A gateway's refusal of a create that took effect. */
const gatewayRefusal = (status: number) =>
  ({ afterCommit: true, status, headers: { "content-type": "text/html" }, body: "<html>" }) as const;

const UNCERTAIN =
  /may have made an endpoint for https:\/\/shop\.example\.com, .* with `npx pulumi-endpoints who-has https:[^`]+` before the next run\. See "The answer/;

export const unclearRefusals: Scenario[] = [
  ...[400, 409, 422].map((status) =>
    scenario(`outside of pools, a create that a gateway refused with ${status} names its endpoint`, {
      replies: [["create", gatewayRefusal(status)]],
      writes: [],
      fails: TAKEN,
      next: [{ overrides: adopts("shop") }],
      state: { o: "shop" },
    }),
  ),
  ...[400, 409, 422].map((status) =>
    scenario(`in a pool, a create that a gateway refused with ${status} is not sent again`, {
      program: { o: pooled },
      replies: [["create", gatewayRefusal(status)]],
      fails: UNCERTAIN,
      next: [{ program: { o: { ...pooled, adopt: "@shop" } } }],
      state: { o: "shop" },
    }),
  ),
  ...[302, 400, 401, 403, 404, 405, 409, 413, 422, 425, 499].map((status) =>
    scenario(
      `in a pool, a create that a gateway refused with ${status} without an effect fails and is not repeated`,
      {
        program: { o: pooled },
        replies: [["create", { status, body: "" }]],
        writes: status < 400 ? [`POST shop ${status}`] : [],
        fails: UNCERTAIN,
      },
    ),
  ),
  scenario("in a pool, a create is sent again after a temporary refusal with the service's code", {
    program: { o: pooled },
    replies: [["create", error(400, 18016), 2]],
    writes: ["POST shop"],
  }),
  scenario("outside of pools, a 400 without a code fails at once", {
    replies: [["create", { status: 400, body: "" }]],
    fails: /status 400/,
    seconds: 1,
  }),
  scenario("a create waits for a URL that is freed in this run, after a 409 without a code", {
    service: { urlTaken: "409-bare" },
    from: { one: "a" },
    later: true,
    program: { one: "b", two: "a" },
    writes: ["PATCH a url=b", "POST a"],
    state: { one: "a=b", two: "a#2" },
    engine: "parallel",
  }),
  scenario("outside of pools, a 409 without a code that passes after some seconds is sent again", {
    replies: [["create", { status: 409, body: "" }, 3]],
    writes: ["POST shop"],
    seconds: 10,
  }),
  scenario("ten minutes of the service's 429 do not widen the two seconds around a lost create", {
    service: { urlTaken: "allowed" },
    before: ({ emulator, seed, clock }) => {
      const limited = {
        status: 429,
        headers: { "Retry-After": "60" },
        body: { error_code: "ERR_NGROK_226" },
      };
      emulator.intercept("create", limited, 5);
      const born = new Date(clock.now() + 60_000).toISOString();
      emulator.intercept("create", {
        before: () => void seed("theirs", { ...shop, created_at: born }),
        reset: true,
      });
    },
    writes: ["POST shop 0"],
    fails: /is served by ep_/,
    live: ["theirs"],
  }),
];
