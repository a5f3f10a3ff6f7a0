import { expect, test } from "vitest";
import { Emulator, type SignedPlatform, signWebhook } from "../../sdk/testing";
import { errors, failure, onBothDrivers, plainIn } from "./setup";

const SECRET = "CANARY-7f3c-0123456789";
const platforms: SignedPlatform[] = ["github", "stripe"];

interface Forms {
  policy: string;
  version2: string;
  version3: string;
}

const program = `
const { WebhookVerification, mergeTrafficPolicy } = require("pulumi-endpoints");
const secret = new pulumi.Config().requireSecret("secret");
for (const platform of ${JSON.stringify(platforms)}) {
  const args = { platform, secret, agent: { upstream: 8080 } };
  const version3 = new WebhookVerification(platform, args);
  const version2 = new WebhookVerification(platform + "-2", { ...args, agentConfigVersion: 2 });
  const forward = { on_http_request: [{ actions: [{ type: "forward-internal", config: { url: "https://hooks.internal" } }] }] };
  new CloudEndpoint(platform, { url: "https://" + platform + ".example.com", trafficPolicy: mergeTrafficPolicy(forward, version3) });
  exports[platform] = {
    policy: version3.trafficPolicy, version2: version2.agentConfig, version3: version3.agentConfig,
  };
}`;

onBothDrivers("a webhook verification", (start) => {
  test("accepts only signed deliveries in each of its forms, and its secret is nowhere in plain", async () => {
    const stack = await start(program, { config: { "case:secret": { secret: SECRET } } });
    const up = await stack.up({ diff: true, skipPreview: false });
    expect(up.text + JSON.stringify(up.diagnostics)).not.toContain(SECRET);
    expect(plainIn(await stack.exportState())).not.toContain(SECRET);

    for (const platform of platforms) {
      const { policy, version2, version3 } = up.outputs[platform] as Forms;
      const endpoint = stack.emulator.endpoints.find(({ url }) => url === `https://${platform}.example.com`);
      const application = () => new Response(null, { status: 201 });
      for (const source of [{ config: version2 }, { config: version3 }, policy, endpoint?.traffic_policy]) {
        await using emulator = await Emulator.start();
        // The policy of a cloud endpoint forwards to it.
        emulator.connect("https://hooks.internal", application);
        const [agent] =
          typeof source === "object"
            ? emulator.connect(source, application)
            : emulator.connect(
                emulator.seed({ type: "ephemeral", traffic_policy: source ?? "" }).url ?? "",
                application,
              );
        const statusOf = async (secret: string) => {
          const headers = signWebhook(platform, { body: "{}", secret });
          return (await emulator.fetch(agent?.url ?? "", { method: "POST", body: "{}", headers })).status;
        };
        expect([await statusOf(SECRET), await statusOf("another secret")]).toEqual([201, 403]);
      }
    }
    await stack.up({ expectNoChanges: true });
  });

  test("with a secret that is unknown at the preview is checked at the up", async () => {
    const stack = await start(`
const { WebhookVerification } = require("pulumi-endpoints");
const first = new CloudEndpoint("first", { url: "https://first.example.com" });
new WebhookVerification("late", { platform: "github", secret: first.id.apply((id) => id + " ") });`);
    const { diagnostics } = await stack.preview();
    expect(diagnostics).toMatchObject([
      { severity: "info", message: expect.stringMatching(/late: the secret is not known yet/) },
    ]);
    expect(errors(await failure(stack.up())).join()).toMatch(/late: secret begins or ends with a space/);
  });
});
