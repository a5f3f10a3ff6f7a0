import { expect, test } from "vitest";
import { type SignedPlatform, schemes, webhookScheme } from "../../webhooks/schemes";
import { signWebhook, verifyWebhook } from "../../webhooks/signatures";

const lower = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** The example in Stripe's own tests: JSON with two spaces of indentation and a line break at its end. */
const STRIPE = `${JSON.stringify(JSON.parse('{"id":"evt_123","object":"event","account":"acct_123","api_version":"2017-05-25","created":1533204620,"data":{"object":{"id":"cus_123","object":"customer","created":123456789,"email":"test@stripe.com","livemode":false,"metadata":{}}},"livemode":false,"pending_webhooks":1,"request":{"id":"req_123","idempotency_key":"idempotency-key-123"},"type":"customer.created"}'), null, 2)}\n`;
/** The example in Slack's documentation. */
const SLACK =
  "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
/** The example in Box's tests, in which the time has an offset. */
const BOX =
  '{"type":"webhook_event","webhook":{"id":"1234567890"},"trigger":"FILE.UPLOADED","source":{"id":"1234567890","type":"file","name":"Test.txt"}}';

/**
 * A platform, a secret, a body, and the headers of the webhook. README.md has their sources. From calendly on, the platforms have
 * no published example, so these have the documented form.
 */
const published = `
github | It's a Secret to Everybody | Hello, World! | X-Hub-Signature-256: sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17
slack | 8f742231b10e8888abcd99yyyzzz85a5 | ${SLACK} | X-Slack-Signature: v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503 | X-Slack-Request-Timestamp: 1531420618
stripe | webhook_secret | STRIPE | Stripe-Signature: t=1533204620,v1=2220f87ef101a04665f11cdf770523143f875572008577fa0f20882ddb9cc3c7
shopify | test_secret_key | {"foo": "bar"} | X-Shopify-Hmac-SHA256: B23tXN681gZ0qIWNRrgtzBE9XSDo5yaUu6wfmhu3a7g=
svix | whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw | {"test": 2432232314} | svix-Id: msg_p5jXN8AQM9LWM0D4loKWxJek | svix-Timestamp: 1614265330 | svix-Signature: v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
mux | SuperSecret123 | payload | Mux-Signature: t=1591664030,v1=e43496b6aae982c4c2fd6f8e92935f1d90216f1f64d56024e72390acfb988272
circleci | another-secret | lalala | circleci-signature: v1=daa220016c8f29a8b214fbfc3671aeec2145cfb1e6790184ffb38b6d0425fa00
bitbucket | It's a Secret to Everybody | Hello World! | X-Hub-Signature: sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9
calendly | shared | {} | Calendly-Webhook-Signature: t=1767323045,v1=f93b6786b45186fcf7d84c678ac7de099c2c84c9680cda7a94436c4279c4c0a1
zoom | shared | {} | x-zm-signature: v0=a2d1c64369434ac8818d663bd40ee5df837bfa93fc445ab02e5f00b2e248c797 | x-zm-request-timestamp: 1767323045
autodesk | shared | {} | x-adsk-signature: sha1hash=3e1f8b74c8ccaf23ed5c8a1f25b617d6a0027ba3
gitlab | shared | {} | X-Gitlab-Token: shared
brex | c2VjcmV0LXNlY3JldC1zZWNyZXQ= | {} | Webhook-Id: msg_1 | Webhook-Timestamp: 1767323045 | Webhook-Signature: v1,oc/YM0hTF8D9osP0NmMCiz7rNj7A6PRF2nZ5WdHio0o=
brex | whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ= | {} | Webhook-Id: msg_1 | Webhook-Timestamp: 1767323045 | Webhook-Signature: v1,oc/YM0hTF8D9osP0NmMCiz7rNj7A6PRF2nZ5WdHio0o=
`;

test.each(published.trim().split("\n"))("signWebhook writes the headers of %s", (row) => {
  const [platform = "", secret = "", text = "", ...lines] = row.split(" | ");
  const headers = Object.fromEntries(lines.map((line) => line.split(": ")));
  const [time] = /\b1\d{9}\b/.exec(lines.join()) ?? ["0"];
  const id = headers["svix-Id"] ?? headers["Webhook-Id"] ?? "";
  const body = text === "STRIPE" ? STRIPE : text;
  expect(signWebhook(platform, { body, secret, at: new Date(Number(time) * 1000), id })).toEqual(headers);
});

test("verifyWebhook accepts the published example of Box, in which the time has an offset", () => {
  const headers = {
    "box-delivery-timestamp": "2020-01-01T00:00:00-07:00",
    "box-signature-primary": "6TfeAW3A1PASkgboxxA5yqHNKOwFyMWuEXny/FPD5hI=",
    "box-signature-secondary": "v+1CD1Jdo3muIcbpv5lxxgPglOqMfsNHPV899xWYydo=",
  };
  const delivery = { headers, body: Buffer.from(BOX), now: new Date("2020-01-01T07:09:59Z") };
  const verified = ["SamplePrimaryKey", "SampleSecondaryKey", "other"].map(
    (secret) => verifyWebhook("box", { ...delivery, secret }).verified,
  );
  expect(verified).toEqual([true, true, false]);
});

/** A valid secret for every platform, including those that require base64. */
const SECRET = "c2VjcmV0LXNlY3JldC1zZWNyZXQ=";
const OTHER = "YW5vdGhlci1hbm90aGVyLWFub3RoZXIh";
const SENT = new Date("2026-01-02T03:04:05Z");
const BODY = '{"event":"é✓"}';

const cases = (Object.keys(schemes) as SignedPlatform[]).flatMap((platform) => {
  const headers = lower(signWebhook(platform, { body: BODY, secret: SECRET, at: SENT }));
  const { toleranceSeconds: tolerance } = webhookScheme(platform).time ?? {};
  const later = (seconds: number) => ({ now: new Date(SENT.getTime() + seconds * 1000) });
  const rows: [what: string, change: object, verified: boolean][] = [
    ["that is unchanged", {}, true],
    ["with another secret", { secret: OTHER }, false],
    ["without headers", { headers: {} }, false],
    // GitLab does not sign the body: it sends the secret itself.
    ["with a changed body", { body: Buffer.from(BODY.replace("é", "e")) }, platform === "gitlab"],
    ["with a part of the body", { body: Buffer.from(BODY).subarray(0, -1) }, platform === "gitlab"],
    ["much later", later(100_000), tolerance === undefined],
  ];
  for (const way of tolerance ? [1, -1] : [])
    rows.push(["within the tolerance", later(way * Number(tolerance)), true]);
  for (const way of tolerance ? [1, -1] : [])
    rows.push(["beyond the tolerance", later(way * (Number(tolerance) + 1)), false]);
  return rows.map(([what, change, verified]) => ({ platform, what, headers, change, verified }));
});

test.each(cases)(
  "a webhook of $platform $what is verified: $verified",
  ({ platform, headers, change, verified }) => {
    const delivery = { headers, body: Buffer.from(BODY), secret: SECRET, now: SENT, ...change };
    expect(verifyWebhook(platform, delivery).verified).toBe(verified);
  },
);

test.each<[platform: string, secret: string, words: RegExp]>([
  ["dropbox", "shared", /does not know how Dropbox signs; it knows autodesk, .*stripe/],
  ["toString", "shared", /does not know how this platform signs; it knows autodesk/],
  ["github", "", /^the secret of github is empty/],
  ["brex", "whsec_!!!!", /^the secret of brex /],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the service replaces the expression
  ["github", "${secrets.get('webhooks', 'key')}", /^the secret of github refers to the vault/],
])("signWebhook refuses the platform %s with the secret %j", (platform, secret, words) => {
  expect(() => signWebhook(platform, { body: "{}", secret })).toThrow(words);
});
