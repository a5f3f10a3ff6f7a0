import { describe, expect, test } from "vitest";
import { type SignedPlatform, signWebhook } from "../../../sdk/testing";
import { schemes, webhookScheme } from "../../../sdk/testing/runner/schemes";
import { verifyWebhook } from "../../../sdk/testing/runner/signatures";
import { policyOf, startAgent, verifying } from "./application";

const lower = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
/** A valid secret for every platform, including those that require base64. */
const SECRET = "c2VjcmV0LXNlY3JldC1zZWNyZXQ=";
const platforms = Object.keys(schemes) as SignedPlatform[];

describe.each(platforms)("a webhook of %s", (platform) => {
  const secret = SECRET;
  const body = '{"event":"é✓"}';
  const sent = new Date("2026-01-02T03:04:05Z");
  const headers = lower(signWebhook(platform, { body, secret, at: sent }));
  const verify = (change: {
    headers?: Record<string, string>;
    body?: string;
    secret?: string;
    later?: number;
  }) =>
    verifyWebhook(platform, {
      headers: change.headers ?? headers,
      body: Buffer.from(change.body ?? body),
      secret: change.secret ?? secret,
      now: new Date(sent.getTime() + (change.later ?? 0) * 1000),
    });

  test("is verified if it is unchanged", () => {
    expect(verify({})).toEqual({ verified: true });
  });

  test("is not verified with another secret, without headers, or with malformed headers", () => {
    expect(verify({ secret: "YW5vdGhlci1hbm90aGVyLWFub3RoZXIh" })).toMatchObject({ verified: false });
    expect(verify({ headers: {} })).toEqual({ verified: false, reason: "it is not signed" });
    for (const broken of ["", "x", ",", "=", "t=,v1=", "v1,", "v0=", "sha256="]) {
      const all = Object.fromEntries(Object.keys(headers).map((name) => [name, broken]));
      expect(verify({ headers: all })).toMatchObject({ verified: false });
    }
  });

  // GitLab does not sign the body: it sends the secret itself.
  test.each(platform === "gitlab" ? [] : ["changed", "cut"])("is not verified if the body was %s", (how) => {
    const other = how === "changed" ? body.replace("é", "e") : body.slice(0, -1);
    expect(verify({ body: other })).toMatchObject({ verified: false });
  });

  const { time } = webhookScheme(platform);
  const tolerances = time ? [time.toleranceSeconds] : [];
  test.each(tolerances)("is verified if its time differs by at most %i seconds", (tolerance) => {
    for (const way of [1, -1]) {
      expect(verify({ later: way * tolerance })).toEqual({ verified: true });
      expect(verify({ later: way * (tolerance + 1) })).toMatchObject({
        reason: expect.stringMatching(/signed time/),
      });
    }
  });
});

test("one valid signature of several is enough, as during the rotation of a secret", () => {
  const at = new Date();
  const sign = (platform: SignedPlatform, secret: string) =>
    lower(signWebhook(platform, { body: "{}", secret, at, id: "msg_1" }));
  const joined = (platform: SignedPlatform, header: string, join: (old: string, fresh: string) => string) => {
    const [old, fresh] = [
      sign(platform, "b2xkLXNlY3JldC1vbGQtc2VjcmV0"),
      sign(platform, "bmV3LXNlY3JldC1uZXctc2VjcmV0"),
    ];
    return { ...old, [header]: join(old[header] ?? "", fresh[header] ?? "") };
  };
  const verify = (platform: string, headers: Record<string, string>) =>
    verifyWebhook(platform, {
      headers,
      body: Buffer.from("{}"),
      secret: "bmV3LXNlY3JldC1uZXctc2VjcmV0",
      now: at,
    });
  const stripe = joined("stripe", "stripe-signature", (old, fresh) => `${old},${fresh.split(",")[1]}`);
  expect(verify("stripe", stripe)).toEqual({ verified: true });
  const brex = joined("brex", "webhook-signature", (old, fresh) => `${old} ${fresh}`);
  expect(verify("brex", brex)).toEqual({ verified: true });
});

// biome-ignore lint/suspicious/noTemplateCurlyInString: the service replaces the expression
const reference = "${secrets.get('webhooks', 'key')}";

test.each([
  ["github", ""],
  ["github", "\u200b\u200b\u200b\u200b"],
  ["brex", "whsec_!!!!"],
])("for %s, the invalid secret %j is refused by signWebhook and by the agent", async (platform, secret) => {
  expect(() => signWebhook(platform, { body: "{}", secret })).toThrow(/^the secret of /);
  for (const options of [
    { options: ["--verify-webhook", platform, "--verify-webhook-secret", secret] },
    { trafficPolicy: policyOf(verifying({ provider: platform, secret })) },
    {
      trafficPolicy: policyOf(verifying({ provider: platform, secret: reference })),
      vaults: { webhooks: { key: secret } },
    },
  ])
    await expect(startAgent(options)).rejects.toThrow(/^the secret of |config\.secret/);
});

test("a reference to the vault is refused as the secret of a signature and as an entry of the vault", async () => {
  expect(() => signWebhook("github", { body: "{}", secret: reference })).toThrow(/refers to the vault/);
  await expect(
    startAgent({
      trafficPolicy: policyOf(verifying({ secret: reference })),
      vaults: { webhooks: { key: reference } },
    }),
  ).rejects.toThrow(/refers to the vault/);
});
