import { UNKNOWN } from "../../../provider/pulumi/sentinels";
import type { Emulator, Seed } from "../../../sdk/testing/emulator";

/** Endpoints that a program cannot express at all, or only without a field. */
const odd: Record<string, Omit<Seed, "type">> = {
  "a-description": { description: "x".repeat(256) },
  "an-unknown": { description: UNKNOWN },
  "half-a-character": { description: "half \ud83d" },
  "half-a-key": { metadata: '{"\\ud83d":1}' },
  "half-in-a-policy": { traffic_policy: '{"on_http_request":["\\ud83d"]}' },
  "a-prototype": { metadata: '{"team":{"__proto__":{"admin":true}}}' },
  "a-key": { metadata: '{"api_key":"CANARY-12345","CANARY-12345":1}' },
  "an-unknown-policy": { traffic_policy: `{"on_http_request":["${UNKNOWN}"]}` },
  "a-broken-policy": { traffic_policy: '{"on_http_request": [' },
  "a-list-for-a-policy": { traffic_policy: "[1]" },
  "a-pulumi-policy": {
    traffic_policy: '{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270"}',
  },
  "two-bindings": { bindings: ["public", "public"] },
  "no-bindings": { bindings: [] },
  "a-yaml-policy": { traffic_policy: "# by hand\non_http_request:\n  - actions: [{type: deny}]\n" },
  "empty-texts": { description: "", metadata: "", traffic_policy: "" },
};

/** The line of the log about each of these endpoints. */
export const oddLines: Record<string, RegExp> = {
  "a-description": /^Left out: .* description must have at most 255 characters, but has 256/,
  "an-unknown": /^Left out: .*: description cannot .*means “not known yet” to Pulumi/,
  "half-a-character": /^Left out: .*: description cannot .*half of a character/,
  "half-a-key": /^Left out: .*: metadata cannot .*half of a character/,
  "half-in-a-policy": /^Left to the service: trafficPolicy cannot .*half of a character/,
  "a-prototype": /^Left out: .*: metadata cannot .*Pulumi reserves its key __proto__/,
  "a-key": /^Left out: .*: metadata cannot .*one of its keys contains a secret/,
  "an-own-key": /^Left out: .*: metadata cannot .*contains the account's API key/,
  strange: /^Left out: .*adopt must be an endpoint's id/,
  twice: /^Left out: .*other endpoints have the same URL, and not all of them have pooling enabled/,
  "an-unknown-policy": /^Left to the service: trafficPolicy cannot .*not known yet/,
  "a-broken-policy": /^Left to the service: trafficPolicy is not valid JSON/,
  "a-list-for-a-policy": /^Left to the service: trafficPolicy must be a mapping of phases/,
  "a-pulumi-policy": /^Left to the service: trafficPolicy cannot .*Pulumi reserves its key/,
  "two-bindings": /^Left to the service: bindings has a duplicate .*give each binding once/,
  "no-bindings": /^$/,
  "a-yaml-policy": /^Left to the service: the layout and the comments of trafficPolicy in YAML/,
  "empty-texts": /^$/,
};

export function seedOdd(emulator: Emulator): void {
  const policy = { traffic_policy: JSON.stringify({ on_http_request: [] }) };
  for (const [name, seed] of Object.entries(odd))
    emulator.seed({ ...policy, type: "cloud", url: `https://${name}.example.com`, ...seed });
  const withKey = { metadata: JSON.stringify({ [emulator.apiKey]: 1 }) };
  emulator.seed({ type: "cloud", url: "https://an-own-key.example.com", ...withKey });
  emulator.seed({ type: "cloud", id: "ep-strange", url: "https://strange.example.com" });
  for (const binding of ["public", "kubernetes"])
    emulator.seed({ type: "cloud", url: "https://twice.example.com", bindings: [binding] });
}
