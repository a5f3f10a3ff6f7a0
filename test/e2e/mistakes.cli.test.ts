import { expect, test } from "vitest";
import { failure, onBothDrivers } from "./setup";

/** Part of every secret here. No message may contain it. */
const CANARY = "CANARY7f3c";

const program = `
const { WebhookVerification } = require("pulumi-endpoints");
const url = (n) => "https://" + n + ".example.com";
new CloudEndpoint("a", { url: "nonsense", metadata: 7, bindings: pulumi.secret(["${CANARY}", "${CANARY}"]) });
new CloudEndpoint("b", { url: "ftp://b.example.com", bindings: ["public", "public"] });
new CloudEndpoint("c", { url: url("c") + "/path", description: "x".repeat(300) });
new CloudEndpoint("d", { url: "https://user:${CANARY}@d.example.com", trafficPolicy: '{"a": ' });
new CloudEndpoint("e", { url: "tcp://e.example.com" });
new CloudEndpoint("f", {});
const same = new CloudEndpoint("g", { url: url("same") });
new CloudEndpoint("h", { url: "HTTPS://SAME.example.com:443/" });
new CloudEndpoint("i", { url: url("i"), description: "of " + same.id, metadata: { key: "" + Promise.resolve() } });
new CloudEndpoint("j", { url: url("j"), adopt: "ep_1" }, { deleteBeforeReplace: false });
const bytes = Buffer.from("on_http_request: [] # ${CANARY}");
new CloudEndpoint("k", { url: url("k"), trafficPolicy: bytes, metadata: pulumi.secret(1).apply(() => ({ at: [new Date()] })) });
new CloudEndpoint("l", { url: url("l"), trafficPolicy: pulumi.output(bytes), metadata: new Map([["${CANARY}", 1n]]) });
new CloudEndpoint("n", { url: url("n"), trafficPolicy: "on_http_request:\\n- expressions:\\n  - ! req.host == '${CANARY}'" });`;

const optional = `
new CloudEndpoint("m", { url: url("m"), bindings: [] }, { import: "ep_1", replaceOnChanges: ["description"] });`;

const webhooks = `
const secret = pulumi.secret("${CANARY}");
new WebhookVerification("agent", { platform: "github", secret, agent: { upstream: "localhost" }, plan: "gold" });
new WebhookVerification("swapped", { platform: "${CANARY}", secret: "github" });
const used = new WebhookVerification("used", { platform: "github", secret: pulumi.secret("") });
new CloudEndpoint("late", { url: same.url.apply(() => url("late")), trafficPolicy: used.trafficPolicy }, { dependsOn: [same] });
module.exports = { policy: used.trafficPolicy };`;

onBothDrivers("mistakes in a program", (start) => {
  test.each(["dynamic", "plugin"])(
    "are all shown by one preview of the %s provider, one line for each, without a secret and without a request",
    async (provider) => {
      const isDynamic = provider === "dynamic";
      const stack = await start(program + (isDynamic ? optional : "") + webhooks, {
        env: { ENDPOINTS_PROVIDER: provider },
      });
      const { text, requests, diagnostics } = await failure(stack.preview());
      // The engine reports the mistakes of the first resource, and the program reports all other mistakes.
      const lines = diagnostics
        .map(({ message }) => message.replace(/^\S+:CloudEndpoint resource/, "resource"))
        // A warning of most of them.
        .filter((line) => !/trafficPolicy is missing/.test(line));
      const expected = [
        /^agent: agent\.upstream must be a port/,
        /^agent: plan must be free, hobbyist, pay-as-you-go, pro or enterprise/,
        /^b: bindings has a duplicate at \[1\]/,
        /^b: url has a scheme that no endpoint serves/,
        /^c: description must have at most 255/,
        /^c: url has a path/,
        /^d: trafficPolicy is not valid JSON/,
        /^d: url contains credentials/,
        /^e: url has no port; tcp needs one/,
        /^f: url is missing/,
        /^h: the url is also that of g/,
        /^i: description contains an output used as text; .*pulumi\.interpolate/,
        /^i: metadata contains at key a promise used as text/,
        /^j: adopt together with deleteBeforeReplace: false could delete/,
        /^k: metadata contains at at\[0\] a Date, which is no plain data/,
        /^k: trafficPolicy contains a Buffer, which is bytes; read it with utf8/,
        /^l: metadata contains a Map, which is no plain data/,
        /^l: trafficPolicy has only numbers for phases/,
        ...(isDynamic
          ? [
              /^m: bindings must name at least one binding/,
              /^m: the option import needs the plugin: run `pulumi config set/,
              /^m: the option replaceOnChanges needs the plugin: run `pulumi config set/,
            ]
          : []),
        /^n: trafficPolicy has a YAML tag \(line 3, column 5\): an unquoted ! begins one; quote it/,
        /^resource 'a' has a problem: bindings has a duplicate at \[1\]/,
        /^resource 'a' has a problem: metadata must be an object or text/,
        /^resource 'a' has a problem: url is not a URL/,
        /^swapped: platform and secret seem to be swapped/,
        /^used: secret is empty/,
      ];
      expect(lines.sort()).toEqual(expected.map((line) => expect.stringMatching(line)));
      expect(text + lines.join()).not.toContain(CANARY);
      expect(text).not.toMatch(/ at .*\.js:\d+|error serializing|PromiseRejectionHandledWarning/);
      expect(requests).toEqual([]);
    },
  );
});
