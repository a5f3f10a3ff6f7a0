import { expect, test } from "vitest";
import { Emulator, type SignedPlatform, signWebhook } from "../../sdk/testing";
import { schemes, webhookScheme } from "../../sdk/testing/runner/schemes";
import { type ReceivedRequest, sendHalf, startApplication } from "../kit/runner/application";
import { edit, errors, failure, methods, onBothDrivers, plainIn } from "./setup";

/** Part of every secret. It is valid base64, since some platforms require that. */
const CANARY = "CANARY7f3c++";
const secretOf = (platform: string) => CANARY + Buffer.from(platform.padEnd(12)).toString("base64");
const platforms = Object.keys(schemes) as SignedPlatform[];

interface Forms {
  policy: string;
  version2: string;
  version3: string;
}

onBothDrivers("a webhook verification", (start) => {
  const program = `
const { WebhookVerification, mergeTrafficPolicy } = require("pulumi-endpoints");
const secrets = new pulumi.Config().requireSecretObject("secrets");
for (const platform of ${JSON.stringify(platforms)}) {
  const args = { platform, secret: secrets[platform], agent: { upstream: 8080 } };
  const version3 = new WebhookVerification(platform, args);
  const version2 = new WebhookVerification(platform + "-2", { ...args, agentConfigVersion: 2 });
  const forward = { on_http_request: [{ actions: [{ type: "forward-internal", config: { url: "https://hooks.internal" } }] }] };
  new CloudEndpoint(platform, { url: "https://" + platform + ".example.com", trafficPolicy: mergeTrafficPolicy(forward, version3) });
  exports[platform] = {
    policy: version3.trafficPolicy, version2: version2.agentConfig, version3: version3.agentConfig,
  };
}`;
  const secrets = {
    secret: JSON.stringify(Object.fromEntries(platforms.map((each) => [each, secretOf(each)]))),
  };

  test("accepts only valid deliveries, in each form and for each platform, and no secret is in plain", async () => {
    const stack = await start(program, { config: { "case:secrets": secrets } });
    await stack.setConfig("case:secrets", secrets);
    const preview = await stack.preview({ diff: true });
    const up = await stack.up({ diff: true });
    for (const run of [preview, up]) expect(run.text + JSON.stringify(run.diagnostics)).not.toContain(CANARY);
    expect(plainIn(await stack.exportState())).not.toContain(CANARY);
    expect(methods(up)).toEqual(platforms.map(() => "POST"));

    for (const platform of platforms) {
      const forms = up.outputs[platform] as Forms;
      const endpoint = stack.emulator.endpoints.find(({ url }) => url === `https://${platform}.example.com`);
      const sources: Source[] = [
        { config: forms.version2 },
        { config: forms.version3 },
        { traffic_policy: forms.policy },
        { traffic_policy: endpoint?.traffic_policy ?? "" },
      ];
      for (const source of sources) {
        const requests = await deliver(platform, source);
        // A scheme without a signed time cannot detect a replay.
        const replays = webhookScheme(platform).time ? [] : [GOOD];
        expect(
          requests.map(({ body }) => body),
          `${platform} by ${Object.keys(source)}`,
        ).toEqual([GOOD, ...replays]);
      }
    }
    await stack.preview({ expectNoChanges: true });
  });

  test("reports all mistakes of all components at the preview, without the secret", async () => {
    const stack = await start(`
const { WebhookVerification } = require("pulumi-endpoints");
const secret = pulumi.secret("${CANARY}");
new WebhookVerification("empty", { platform: "github", secret: pulumi.secret("") });
new WebhookVerification("agent", { platform: "github", secret, agent: { upstream: "localhost" }, plan: "gold" });
new WebhookVerification("port", { platform: "github", secret, agentConfigVersion: 2, agent: { upstream: 80, url: "https://a.example.com:81" } });
new WebhookVerification("swapped", { platform: "${CANARY}", secret: "github" });
const first = new CloudEndpoint("first", { url: "https://first.example.com" });
const used = new WebhookVerification("used", { platform: "github", secret: pulumi.secret("") });
new CloudEndpoint("late", { url: first.url, trafficPolicy: used.trafficPolicy }, { dependsOn: [first] });
module.exports = { policy: used.trafficPolicy };`);
    const result = await failure(stack.preview());
    const reported = errors(result).join("\n");
    for (const words of [
      /empty: secret is empty\. Generate a long random secret/,
      /agent: agent.upstream must be a port/,
      /agent: plan must be free, hobbyist, pay-as-you-go, pro or enterprise/,
      /port: agent.url has a port, which version 2/,
      /swapped: platform and secret seem to be swapped/,
    ]) {
      expect(reported).toMatch(words);
    }
    expect(result.text + reported).not.toContain(CANARY);
    expect(result.text).not.toMatch(/ at .*\.js:\d+/);
    // Resources that depend on a component with a mistake add no further error.
    expect(reported.match(/used: secret is empty/g)).toHaveLength(1);
    expect(result.text).not.toMatch(/error serializing|PromiseRejectionHandledWarning/);
  });

  test("logs that a secret is still unknown at the preview, and reports its mistakes at the update", async () => {
    const late = (of: string) => `
const { WebhookVerification } = require("pulumi-endpoints");
const first = new CloudEndpoint("first", { url: "https://first.example.com" });
const late = new WebhookVerification("late", { platform: "github", secret: first.${of}, agent: { upstream: 8080 } });
module.exports = { policy: late.trafficPolicy };`;
    const stack = await start(late("id"));
    const preview = await stack.preview();
    expect(preview.diagnostics).toMatchObject([
      { severity: "info", message: expect.stringMatching(/late: the secret is not known yet/) },
    ]);
    const up = await stack.up();
    expect(up.outputs["policy"]).toContain(stack.emulator.endpoints[0]?.id);
    // The check needs the known secret.
    edit(stack, late("id.apply((id) => id + ' ')"));
    expect(errors(await failure(stack.up())).join()).toMatch(/late: secret begins or ends with a space/);
  });
});

const GOOD = Buffer.from('{"event":"invitee.created","é":"✓"}\r\n');

/** An agent's configuration, or the policy of an endpoint. */
type Source = { config: string } | { traffic_policy: string };

/** Sends a valid, a forged, a replayed, a truncated and an unsigned delivery. Returns the requests that reach the application. */
async function deliver(platform: SignedPlatform, source: Source): Promise<ReceivedRequest[]> {
  const application = await startApplication();
  await using emulator = await Emulator.start();
  let now = new Date();
  const port = await emulator.serve({ now: () => now });
  const [agent] =
    "config" in source
      ? emulator.connect(source, application.url)
      : emulator.connect(emulator.seed({ type: "ephemeral", ...source }).url ?? "", application.url);
  // The policy of a cloud endpoint forwards to it.
  emulator.connect("https://hooks.internal", application.url);
  const url = agent?.url ?? "";
  const post = async (body: Buffer, headers: Record<string, string>) =>
    (await emulator.fetch(url, { method: "POST", headers, body, now: () => now })).status;
  const sign = (body: Buffer, secret = secretOf(platform)) =>
    signWebhook(platform, { body, secret, at: now });

  const headers = sign(GOOD);
  expect(await post(GOOD, headers)).toBe(201);
  expect(await post(GOOD, sign(GOOD, "YW5vdGhlci1hbm90aGVyLWFub3RoZXIh"))).toBe(403);
  expect(await post(GOOD, {})).toBe(403);
  await sendHalf(`http://127.0.0.1:${port}`, { ...headers, host: new URL(url).host }, GOOD);
  // GitLab signs nothing, so a truncated body is as valid as a whole one.
  if (platform !== "gitlab") expect(await post(GOOD.subarray(0, -2), headers)).toBe(403);
  now = new Date(now.getTime() + 700_000);
  expect(await post(GOOD, headers)).toBe(webhookScheme(platform).time ? 403 : 201);
  return application.requests;
}
