import { expect, test } from "vitest";
// This example is a test itself.
import "../../examples/policy-tests/policy.test";
import {
  accounts,
  agentConfig,
  type Example,
  forwardTo,
  runExample,
  SECRET,
  secretSource,
  urlsOf,
  verify,
} from "./runExample";

/*
 * The examples in TypeScript. `test/package` runs the quickstart. `policy-pack`, `gitops` and the rest of `tenants` have tests of
 * their own.
 */

const inNode: [name: string, Example][] = [
  [
    "lookup",
    {
      outputs: {
        url: "https://shop.example.com",
        table: [
          { id: "ep_edge", type: "edge", url: "tls://edge.example.com", servedBy: expect.any(String) },
          {
            id: "ep_shop",
            type: "ephemeral",
            url: "https://shop.internal",
            servedBy: "http://localhost:8080",
          },
        ],
      },
      creates: { "https://shop.example.com": [forwardTo("https://shop.internal")] },
    },
  ],
  ["accounts", accounts],
  [
    "environments",
    {
      stackName: "dev",
      outputs: { urls: urlsOf("shop.dev", "api.dev") },
      creates: Object.fromEntries(
        ["shop", "api"].map((name) => [
          `https://${name}.dev.example.com`,
          [
            { type: "restrict-ips", config: { enforce: true, allow: ["192.0.2.0/24", "2001:db8::/32"] } },
            { type: "rate-limit", config: { capacity: 600 } },
            forwardTo(`https://${name}.dev.internal`),
          ],
        ]),
      ),
    },
  ],
  [
    "environments",
    {
      stackName: "prod",
      config: () => ({ "environments:maintenance": "true" }),
      outputs: { urls: urlsOf("shop", "api") },
      creates: Object.fromEntries(
        urlsOf("shop", "api").map((url) => [
          url,
          [
            { type: "rate-limit", config: { capacity: 120 } },
            { type: "custom-response", config: { status_code: 503 } },
          ],
        ]),
      ),
    },
  ],
  [
    "calendly",
    {
      config: () => ({ "calendly:signingKey": { secret: SECRET } }),
      outputs: {
        subscription: {
          url: "https://hooks.example.com",
          events: ["invitee.created", "invitee.canceled"],
          scope: "user",
          signing_key: SECRET,
        },
        agentConfig,
        secretSource,
      },
      creates: { "https://hooks.example.com": [verify("calendly"), forwardTo("https://calendly.internal")] },
      signed: "calendly",
    },
  ],
  [
    "brex",
    {
      config: ({ brexApi }) => ({ "brex:brexToken": { secret: "a token" }, "brex:brexApi": brexApi }),
      outputs: {
        registration: { url: "https://hooks.example.com", event_types: ["USER_UPDATED"] },
        agentConfig,
        secretSource,
      },
      creates: { "https://hooks.example.com": [verify("brex"), forwardTo("https://brex.internal")] },
      signed: "brex",
    },
  ],
  [
    "tenants",
    {
      index:
        'import { programOf } from "./tenant";\nexport = programOf({ name: "acme", hosts: ["a.example.com"] });\n',
      outputs: { urls: ["https://a.example.com"] },
      creates: { "https://a.example.com": [forwardTo("https://acme.internal")] },
    },
  ],
];

test.each(inNode)("the example %s has its outputs and endpoints on the test kit's engine", (...row) =>
  runExample(...row, "kit"),
);
