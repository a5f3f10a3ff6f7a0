import { stringify } from "yaml";
import type { Emulator, Seed } from "../../sdk/testing/emulator";

/* An account with endpoints of every kind, for the commands that bring existing endpoints into a program. */

/** Secrets that no command may write in plain text. */
const SECRETS = {
  webhook: "whsec_CANARY_0123456789",
  client: ["CANARY client \"secret\" with 'quotes', `ticks` and $", "{expressions}"].join(""),
  shared: "CANARY-shared-by-two",
  pem: "-----BEGIN CANARY-----\nMIIB\n-----END CANARY-----\n",
  short: "CNRY",
  number: 77001122,
  shortest: "ab",
};

/** A long text with special characters, as in a real policy. */
const page = `<html lang="en"><body>It's “closed”: come back ${"soon, ".repeat(20)}</body></html>\n`;

const deny = (status: number) => ({
  on_http_request: [{ actions: [{ type: "deny", config: { status_code: status } }] }],
});

const verify = (secret: string) => ({ type: "verify-webhook", config: { provider: "brex", secret } });

const policies: object[] = [
  deny(404),
  { on_http_request: [{ actions: [verify(SECRETS.webhook), { type: "deny" }] }] },
  { on_http_request: [{ actions: [verify(SECRETS.shared)] }] },
  {
    on_http_request: [
      {
        actions: [
          { type: "oauth", config: { provider: "x", client_id: "a", client_secret: SECRETS.client } },
        ],
      },
      {
        expressions: [`req.headers['x'].exists(v, v == "${SECRETS.shared}")`],
        actions: [
          { type: "add-headers", config: { headers: { authorization: `Bearer ${SECRETS.shared}` } } },
        ],
      },
    ],
  },
  {
    on_tcp_connect: [
      { actions: [{ type: "terminate-tls", config: { private_key: SECRETS.pem, cert: "c" } }] },
    ],
  },
  { on_http_request: [{ actions: [verify(["$", "{secrets.get('hooks', 'brex')}"].join(""))] }] },
  { on_http_request: [{ actions: [{ type: "custom-response", config: { status_code: 200, body: page } }] }] },
  { on_http_request: [], "x-team": { "two words": null, "1": [1e21, -0.5, true], "": "\u2028\u202e𝒳" } },
  {
    on_http_request: [
      {
        actions: [
          { type: "basic-auth", config: { credentials: [`user:${SECRETS.short}`], password: SECRETS.short } },
        ],
      },
    ],
  },
];

/** A number, and a text that is so short that many words contain it. */
const numberAndShortText = { pins: { secret: SECRETS.number }, credentials: { bob: SECRETS.shortest } };

/** Adds endpoints of every kind. Of six endpoints, four are cloud endpoints; a program cannot manage the other two. */
export function seedMixed(emulator: Emulator, number: number): void {
  for (let index = 0; index < number; index++) {
    // Constant, since endpoints with equal URLs get numbers by their ids.
    emulator.seed({ id: `ep_mixed${100_000 + index}`, ...seedOf(index) });
  }
}

function seedOf(index: number): Seed {
  if (index % 6 === 2) return { type: "ephemeral", name: `agent ${index}` };
  if (index % 6 === 5) return { type: "edge" };
  const nth = index - 2 * Math.floor(index / 6) - (index % 6 > 2 ? 1 : 0);
  const policy = policies[nth % (policies.length + 1)];
  return {
    type: "cloud",
    ...(policy && { traffic_policy: textOf(policy, nth) }),
    ...addressOf(nth),
    ...(nth % 2 === 0 && { description: `number ${nth}, it's “ours”${"!".repeat(nth % 5)}` }),
    ...(nth % 4 === 1 && {
      metadata: JSON.stringify(
        { team: "shop", api_key: SECRETS.shared, nth, ...numberAndShortText },
        null,
        2,
      ),
    }),
    ...(nth % 4 === 3 && { metadata: `owner: somebody\nnth: ${nth} {not json}` }),
  };
}

/** The policy in one of several formats. */
function textOf(policy: object, nth: number): string {
  return nth % 5 === 4 ? stringify(policy) : JSON.stringify(policy, undefined, nth % 3 === 0 ? 2 : 0);
}

function addressOf(nth: number): Pick<Seed, "url" | "bindings" | "pooling_enabled"> {
  if (nth % 9 === 3) return { url: "https://pool.example.com", pooling_enabled: true };
  if (nth % 9 === 5) return { url: `tcp://1.tcp.example.com:${10_000 + nth}` };
  if (nth % 9 === 6) return { url: `https://n${nth}.internal`, bindings: ["internal"] };
  if (nth % 9 === 7) return { url: `tls://n${nth}.example.com`, bindings: ["kubernetes"] };
  if (nth % 9 === 8) return { url: `https://*.n${nth}.example.com` };
  return { url: `https://n${nth}.example.com` };
}
