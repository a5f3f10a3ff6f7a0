import { describe, expect, test } from "vitest";
import { signWebhook } from "../../sdk/testing";
import { act, forward, URL } from "../../sdk/traffic-policy/test/answer/policies";
import { emulatedService } from "../emulatedService";
import { startEmulator } from "./policies";

const SECRET = "webhook-secret";
const verifying = {
  on_http_request: [{ actions: [act("verify-webhook", { provider: "github", secret: SECRET })] }],
};
const webhook = { method: "POST", body: "{}" };
const signed = { ...webhook, headers: signWebhook("github", { body: "{}", secret: SECRET }) };

const version3 = (endpoint: string) => `version: 3\nagent: {}\nendpoints:\n  - {name: one, ${endpoint}}\n`;
const version2 = (more: string) => `version: 2\ntunnels:\n  hooks: {proto: http, addr: 8080, ${more}}\n`;
const policy = `traffic_policy: ${JSON.stringify(verifying)}`;
const upstream = "upstream: {url: 8080}";
const domain = "domain: shop.example.com";
const verifyWebhook = `verify_webhook: {provider: github, secret: ${SECRET}}`;

describe("an agent's configuration", () => {
  test.each<[what: string, config: string, url: string | undefined, forged: number]>([
    ["of version 3", version3(`url: "${URL}", ${upstream}, ${policy}`), URL, 403],
    ["without a policy", version3(`url: "${URL}", ${upstream}`), URL, 200],
    ["of version 2", version2(`${domain}, ${verifyWebhook}`), URL, 403],
    ["with http", version2(`${domain}, schemes: [http], ${policy}`), URL.replace("https", "http"), 403],
    ["without a URL", version3(`${upstream}, ${policy}`), undefined, 403],
  ])("%s gives the agent's endpoint its policy, also twice", async (_, config, url, forged) => {
    const emulator = await emulatedService();
    emulator.connect({ config }, () => new Response("old"));
    const [endpoint] = emulator.connect({ config }, () => new Response("taken"));
    expect(endpoint).toMatchObject({ type: "ephemeral", bindings: ["public"], ...(url && { url }) });
    const at = endpoint?.url ?? "";
    expect(await (await emulator.fetch(at, signed)).text()).toBe("taken");
    expect((await emulator.fetch(at, webhook)).status).toBe(forged);
  });

  const CANARY = "CANARY-71aa";
  test.each<[what: string, config: string, words: RegExp]>([
    ["broken YAML", `version: 2\nsecret: "${CANARY}`, /configuration is not valid YAML \(line 2/],
    ["no version", `agent: {authtoken: ${CANARY}}`, /at version/],
    ["a misspelled key", version2(`verify_webhook: {platform: ${CANARY}}`), /at tunnels\.hooks\.verify/],
    ["verify_webhook in version 3", version3(`${verifyWebhook}, ${upstream}`), /endpoints\.0: Unrecognized/],
    ["two ways to verify", version2(`${verifyWebhook}, ${policy}`), /exclude each other/],
    ["no upstream", version3(`url: "${URL}"`), /at endpoints\.0\.upstream/],
    ["an upstream with a path", version3(`upstream: {url: "http://localhost/${CANARY}"}`), /has a path/],
  ])("with %s is refused, without quoting a value", async (_, config, words) => {
    const emulator = await emulatedService();
    const connect = () => emulator.connect({ config }, () => new Response());
    expect(connect).toThrow(words);
    expect(connect).not.toThrow(new RegExp(`CANARY|${SECRET}`));
    expect(emulator.endpoints).toEqual([]);
  });
});

describe("connect", () => {
  test("gives an application to an internal endpoint that is there, behind forward-internal", async () => {
    const emulator = await startEmulator({ [URL]: forward("https://app.internal") });
    emulator.seed({ type: "ephemeral", url: "https://app.internal", bindings: ["internal"] });
    await expect(emulator.fetch(URL)).rejects.toThrow(/app\.internal, which the test did not connect/);
    emulator.connect("https://app.internal", () => new Response("hello"));
    expect(await (await emulator.fetch(URL)).text()).toBe("hello");
    expect(emulator.endpoints).toHaveLength(2);
  });

  test.each<[url: string, application: unknown, words: string]>([
    ["https://app.internal", "http://127.0.0.1:9/app", "is no URL of a local server without a path"],
    ["https://app.internal", undefined, "undefined is no URL of a local server without a path"],
    ["tcp://app.internal:22", "http://127.0.0.1:9", "only https and http are simulated"],
    [URL, "http://127.0.0.1:9", `${URL} is a cloud endpoint, which has no application`],
    ["https://odd.internal", "http://127.0.0.1:9", "nothing reaches https://odd.internal"],
  ])("refuses %s with the application %s", async (url, application, words) => {
    const emulator = await startEmulator({ [URL]: {} });
    emulator.seed({ type: "ephemeral", url: "https://odd.internal", bindings: ["public"] });
    expect(() => emulator.connect(url, application as string)).toThrow(words);
  });
});
