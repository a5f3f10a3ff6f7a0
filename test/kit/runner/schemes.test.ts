import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type SignedPlatform, signWebhook } from "../../../sdk/testing";
import { verifyWebhook } from "../../../sdk/testing/runner/signatures";

/** The example of Stripe's own tests: two-space JSON with a line break at its end. */
const STRIPE_BODY = `${JSON.stringify(
  {
    id: "evt_123",
    object: "event",
    account: "acct_123",
    api_version: "2017-05-25",
    created: 1533204620,
    data: {
      object: {
        id: "cus_123",
        object: "customer",
        created: 123456789,
        email: "test@stripe.com",
        livemode: false,
        metadata: {},
      },
    },
    livemode: false,
    pending_webhooks: 1,
    request: { id: "req_123", idempotency_key: "idempotency-key-123" },
    type: "customer.created",
  },
  null,
  2,
)}\n`;

/** The example of Slack's documentation. */
const SLACK_BODY =
  "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";

describe("signWebhook and verifyWebhook", () => {
  test.each<[SignedPlatform, string, string, string, { at?: number; id?: string }, string]>([
    // GitHub's documentation, “Testing the webhook payload validation”.
    [
      "github",
      "It's a Secret to Everybody",
      "Hello, World!",
      "X-Hub-Signature-256",
      {},
      "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    ],
    // Slack's documentation, and the tests of its Python library.
    [
      "slack",
      "8f742231b10e8888abcd99yyyzzz85a5",
      SLACK_BODY,
      "X-Slack-Signature",
      { at: 1531420618 },
      "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    ],
    // The tests of Stripe's .NET library.
    [
      "stripe",
      "webhook_secret",
      STRIPE_BODY,
      "Stripe-Signature",
      { at: 1533204620 },
      "t=1533204620,v1=2220f87ef101a04665f11cdf770523143f875572008577fa0f20882ddb9cc3c7",
    ],
    // The tests of Shopify's library for Node.
    [
      "shopify",
      "test_secret_key",
      '{"foo": "bar"}',
      "X-Shopify-Hmac-SHA256",
      {},
      "B23tXN681gZ0qIWNRrgtzBE9XSDo5yaUu6wfmhu3a7g=",
    ],
    // The tests of Svix's libraries, and of Standard Webhooks.
    [
      "svix",
      "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
      '{"test": 2432232314}',
      "svix-Signature",
      { at: 1614265330, id: "msg_p5jXN8AQM9LWM0D4loKWxJek" },
      "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    ],
    // The test helpers of Mux's Elixir library.
    [
      "mux",
      "SuperSecret123",
      "payload",
      "Mux-Signature",
      { at: 1591664030 },
      "t=1591664030,v1=e43496b6aae982c4c2fd6f8e92935f1d90216f1f64d56024e72390acfb988272",
    ],
    // CircleCI's documentation.
    [
      "circleci",
      "another-secret",
      "lalala",
      "circleci-signature",
      {},
      "v1=daa220016c8f29a8b214fbfc3671aeec2145cfb1e6790184ffb38b6d0425fa00",
    ],
    // Public receivers that cite Atlassian's documentation.
    [
      "bitbucket",
      "It's a Secret to Everybody",
      "Hello World!",
      "X-Hub-Signature",
      {},
      "sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9",
    ],
  ])("reproduce the published example of %s", (platform, secret, body, header, { at, id }, signature) => {
    const webhook = { body, secret, ...(at && { at: new Date(at * 1000) }), ...(id && { id }) };
    expect(signWebhook(platform, webhook)[header]).toBe(signature);
  });

  test("verify the published example of Box, whose time has an offset", () => {
    const body = Buffer.from(
      '{"type":"webhook_event","webhook":{"id":"1234567890"},"trigger":"FILE.UPLOADED","source":{"id":"1234567890","type":"file","name":"Test.txt"}}',
    );
    const headers = {
      "box-delivery-timestamp": "2020-01-01T00:00:00-07:00",
      "box-signature-primary": "6TfeAW3A1PASkgboxxA5yqHNKOwFyMWuEXny/FPD5hI=",
      "box-signature-secondary": "v+1CD1Jdo3muIcbpv5lxxgPglOqMfsNHPV899xWYydo=",
    };
    const now = new Date("2020-01-01T07:09:59Z");
    for (const secret of ["SamplePrimaryKey", "SampleSecondaryKey"]) {
      expect(verifyWebhook("box", { headers, body, secret, now })).toEqual({ verified: true });
    }
    expect(verifyWebhook("box", { headers, body, secret: "other", now })).toMatchObject({ verified: false });
  });

  test("follow the documentation of the platforms without a published example", () => {
    const at = new Date("2026-01-02T03:04:05Z");
    const time = `${at.getTime() / 1000}`;
    const hmac = (algorithm: string, key: string | Buffer, text: string) =>
      createHmac(algorithm, key).update(text);
    const sign = (platform: SignedPlatform, secret: string) =>
      signWebhook(platform, { body: "{}", secret, at, id: "msg_1" });
    expect(sign("calendly", "shared")).toEqual({
      "Calendly-Webhook-Signature": `t=${time},v1=${hmac("sha256", "shared", `${time}.{}`).digest("hex")}`,
    });
    expect(sign("zoom", "shared")).toEqual({
      "x-zm-signature": `v0=${hmac("sha256", "shared", `v0:${time}:{}`).digest("hex")}`,
      "x-zm-request-timestamp": time,
    });
    expect(sign("autodesk", "shared")).toEqual({
      "x-adsk-signature": `sha1hash=${hmac("sha1", "shared", "{}").digest("hex")}`,
    });
    expect(sign("gitlab", "shared")).toEqual({ "X-Gitlab-Token": "shared" });
    const brex = hmac(
      "sha256",
      Buffer.from("c2VjcmV0LXNlY3JldC1zZWNyZXQ=", "base64"),
      `msg_1.${time}.{}`,
    ).digest("base64");
    for (const secret of ["c2VjcmV0LXNlY3JldC1zZWNyZXQ=", "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ="]) {
      expect(sign("brex", secret)).toEqual({
        "Webhook-Id": "msg_1",
        "Webhook-Timestamp": time,
        "Webhook-Signature": `v1,${brex}`,
      });
    }
  });

  test("throw for a platform that the test kit does not support, and list the supported ones", () => {
    for (const [platform, name] of [
      ["dropbox", "Dropbox"],
      ["toString", "this platform"],
    ] as const) {
      expect(() => signWebhook(platform, { body: "", secret: "shared" })).toThrow(
        new RegExp(`does not know how ${name} signs; it knows autodesk, .*stripe`),
      );
    }
  });
});
