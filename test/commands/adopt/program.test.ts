import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Path } from "../../../provider/endpoint/documents";
import { findSecrets } from "../../../provider/endpoint/secrets";
import type { ConfigSecret } from "../../../sdk/commands/adopt/configSecrets";
import { literal } from "../../../sdk/commands/adopt/program";
import { endpoint, written } from "./written";

/** Runs a written program with these secrets in the configuration, and returns the inputs of its endpoints. */
function inputsOf(program: string, secrets: readonly ConfigSecret[]): Record<string, unknown>[] {
  const inputs: Record<string, unknown>[] = [];
  class CloudEndpoint {
    constructor(_name: string, args: Record<string, unknown>) {
      inputs.push(args);
    }
  }
  class Config {
    requireSecret = (name: string) => secrets.find((secret) => secret.name === name)?.value;
    requireSecretNumber = (name: string) => Number(this.requireSecret(name));
  }
  const interpolate = (texts: readonly string[], ...values: string[]) =>
    texts.map((text, index) => text + (values[index] ?? "")).join("");
  const body = program.replaceAll(/^import .*$/gm, "");
  new Function("CloudEndpoint", "pulumi", `"use strict";${body}`)(CloudEndpoint, { Config, interpolate });
  return inputs;
}

const key = fc.oneof(
  fc.constantFrom("secret", "api_key", "tokens", "credentials", "constructor", "then", "a b", "1", ""),
  fc.string({ maxLength: 6 }),
);
const text = fc.oneof(
  fc.constantFrom(
    "CANARY-one",
    "Bearer CANARY-one",
    "CANARY-two\r\n\n",
    "a CANARY-one`${",
    "Bearer r",
    "was 99887766, 1.23456789e25",
    "a\r\nb'\"\\`{x}</script>*/",
    "\u0000\u2028\u202e\u200d𝒳",
    "CANARY-one-and-more",
    "a https://u:CANARY-three@CANARY-three, https://u:p@h",
  ),
  // A text with this character is left out, because it may stand for half of another one.
  fc.string({ unit: "grapheme", maxLength: 20 }).filter((text) => !text.includes("\ufffd")),
);
const { value: data } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.integer(),
    fc.constantFrom(null, true, 1e21, -0.5, 1.5e-7, 99887766, 1.23456789e25),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
/** Replaces the secrets that were found. */
const OTHER = { text: "424242", number: "424242" };

const valueAt = (data: unknown, path: Path): unknown =>
  path.reduce<unknown>((part, name) => Object(part)[name], data);

const document = fc.dictionary(key, data, { maxKeys: 4, minKeys: 1, noNullPrototype: true });

test("a program restores any policy and metadata, without secrets or invisible characters in its text", () => {
  fc.assert(
    fc.property(document, document, (policy, metadata) => {
      const live = [
        endpoint("a", "a", { trafficPolicy: JSON.stringify(policy), metadata: JSON.stringify(metadata) }),
        endpoint("b", "b", { trafficPolicy: JSON.stringify(metadata), description: "CANARY-one" }),
      ];
      const { secrets, program } = written(live);
      for (const { value } of secrets.filter(({ value }) => value.includes("CANARY")))
        expect(program.includes(value)).toBe(false);
      // With other values in the configuration, no place of a secret keeps its old value.
      const others = inputsOf(
        program,
        secrets.map((secret) => ({ ...secret, value: OTHER[secret.type] })),
      );
      for (const { path, secret, at } of findSecrets({ trafficPolicy: policy, metadata })) {
        if (typeof secret === "string" && /^[\r\n]*$/.test(secret)) continue;
        if (at !== undefined) {
          expect(`${valueAt(others[0], path)}`).not.toContain(`:${secret}@`);
          continue;
        }
        expect(`${valueAt(others[0], path)}`).toMatch(/^((Bearer|Basic|Token|ApiKey) +)?424242[\r\n]*$/i);
      }
      const [first, second] = inputsOf(program, secrets);
      expect(program).not.toMatch(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/u);
      expect(isDeepStrictEqual(first?.["trafficPolicy"], policy)).toBe(true);
      expect(isDeepStrictEqual(first?.["metadata"], metadata)).toBe(true);
      expect(isDeepStrictEqual(second?.["trafficPolicy"], metadata)).toBe(true);
      expect(second?.["description"]).toBe("CANARY-one");
    }),
    { numRuns: 300 },
  );
});

describe("a secret", () => {
  /** The expression in a template that reads the secret. */
  const read = (name: string) => `\${config.requireSecret("${name}")}`;
  const policy = (value: object) => ({ trafficPolicy: JSON.stringify(value) });

  test("is named after its endpoint and its key, or after the key alone if several endpoints share it", () => {
    const { secrets } = written([
      endpoint("1", "shop", policy({ client_secret: "only of shop" })),
      endpoint("2", "api", policy({ "x-api-key": "of api and web" })),
      endpoint("3", "web", policy({ config: { tokens: ["of api and web", "only of web"] } })),
    ]);
    expect(secrets.map(({ name, value, places }) => [name, value, places.length])).toEqual([
      ["shopExampleComClientSecret", "only of shop", 1],
      ["xApiKey", "of api and web", 2],
      ["webExampleComTokens", "only of web", 1],
    ]);
    expect(secrets[1]?.places[1]).toMatchObject({
      id: "ep_3",
      url: "https://web.example.com",
      path: ["trafficPolicy", "config", "tokens", 0],
    });
  });

  test("gets a number if the configuration uses its name for something else", () => {
    const endpoints = [
      endpoint("1", "shop", policy({ a: { secret: "one-secret" }, b: { secret: "other-one" } })),
    ];
    const { secrets } = written(
      endpoints,
      (name, value) => name !== "shopExampleComSecret" || value === "other-one",
    );
    expect(secrets.map(({ name }) => name)).toEqual(["shopExampleComSecret2", "shopExampleComSecret"]);
  });

  test("is replaced in the texts of all endpoints, or only in its own endpoint's if it is short", () => {
    const { program } = written([
      endpoint("1", "a", policy({ password: "pass", secret: "whsec_CANARY", note: "by pass, whsec_CANARY" })),
      endpoint("2", "b", { ...policy({ note: "by pass" }), description: "was whsec_CANARY" }),
    ]);
    expect(program).toContain(
      `note: pulumi.interpolate\`by ${read("aExampleComPassword")}, ${read("aExampleComSecret")}\``,
    );
    expect(program).toContain(`description: pulumi.interpolate\`was ${read("aExampleComSecret")}\``);
    expect(program).toContain('note: "by pass"');
  });

  test("can be a number, a short text, or any value below a key such as credentials", () => {
    const { secrets, program } = written([
      endpoint("1", "a", {
        ...policy({ password: 12345678, pin_token: "abc", note: "abc, 12345678", limit: 12345678 }),
        metadata: '{"secret":99887766,"credentials":{"bob":"hunter2-hunter2"},"tokens":[{"type":"jwt"}]}',
      }),
    ]);
    expect(program).toContain('password: config.requireSecretNumber("aExampleComPassword")');
    expect(program).toContain('pin_token: config.requireSecret("aExampleComPinToken")');
    expect(program).toContain('secret: config.requireSecretNumber("aExampleComSecret")');
    expect(program).toContain('credentials: { bob: config.requireSecret("aExampleComBob") }');
    expect(program).toContain('tokens: [{ type: "jwt" }]');
    expect(program).toContain("note: pulumi.interpolate`abc, ${config.requireSecretNumber(");
    expect(program).not.toMatch(/12345678|99887766|hunter2/);
    expect(secrets.map(({ value }) => value)).toEqual(["12345678", "abc", "99887766", "hunter2-hunter2"]);
  });

  test("can be the password of a URL in any text, at its own place of the text", () => {
    const { secrets, program } = written([
      endpoint("1", "a", {
        ...policy({
          config: { url: "https://x:x@x.example.com" },
          list: ["redis://u:long-password@a,redis://v:y@b", "long-password"],
        }),
        description: "was https://u:long-password@h",
        metadata: "see ftp://m:meta-password@h",
      }),
      endpoint("2", "b", policy({ url: "https://u:long-password@h" })),
    ]);
    expect(secrets.map(({ name, value, places }) => [name, value, places.length])).toEqual([
      ["aExampleComUrlPassword", "x", 1],
      ["listPassword", "long-password", 3],
      ["aExampleComListPassword", "y", 1],
      ["aExampleComMetadataPassword", "meta-password", 1],
    ]);
    const at = (name: string) => read(name);
    expect(program).toContain(
      `url: pulumi.interpolate\`https://x:${at("aExampleComUrlPassword")}@x.example.com\``,
    );
    expect(program).toContain(
      `pulumi.interpolate\`redis://u:${at("listPassword")}@a,redis://v:${at("aExampleComListPassword")}@b\``,
    );
    expect(program).toContain(`description: pulumi.interpolate\`was https://u:${at("listPassword")}@h\``);
    expect(program).toContain(
      `metadata: pulumi.interpolate\`see ftp://m:${at("aExampleComMetadataPassword")}@h\``,
    );
    expect(program).not.toMatch(/long-password|meta-password/);
  });

  test("does not include a reference to the vault or the scheme of a header", () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the service replaces the expression
    const vault = "${secrets.get('hooks', 'brex')}";
    const { secrets, program } = written([
      endpoint(
        "1",
        "a",
        policy({
          ...{ secret: vault, authorization: `Bearer ${vault}`, token: "Bearer of-its-own" },
          url: `https://u:${vault.replace(" ", "")}@h`,
        }),
      ),
    ]);
    expect(secrets.map(({ value }) => value)).toEqual(["of-its-own"]);
    expect(program).toContain(`token: pulumi.interpolate\`Bearer ${read("aExampleComToken")}\``);
  });
});

test("a program without secrets reads no configuration, and breaks only long lines", () => {
  const actions = [1, 2, 3].map((nth) => ({
    type: "add-headers",
    config: { headers: { "x-nth": `${nth}` } },
  }));
  const trafficPolicy = JSON.stringify({ on_http_request: [{ actions }], on_tcp_connect: [] });
  expect(
    written([endpoint("1", "shop", { trafficPolicy })]).program,
  ).toBe(`// 1 cloud endpoint, as the service had it. The first \`pulumi up\` adopts it without a change;
// after that, every \`adopt\` can be removed. Written by \`npx pulumi-endpoints adopt\`.

import { CloudEndpoint } from "pulumi-endpoints";

// With this option, \`pulumi destroy\` does not delete the endpoints. Remove it if Pulumi may delete them.
const keep = { retainOnDelete: true };

new CloudEndpoint("shop-example-com", {
  url: "https://shop.example.com",
  trafficPolicy: {
    on_http_request: [
      {
        actions: [
          { type: "add-headers", config: { headers: { "x-nth": "1" } } },
          { type: "add-headers", config: { headers: { "x-nth": "2" } } },
          { type: "add-headers", config: { headers: { "x-nth": "3" } } },
        ],
      },
    ],
    on_tcp_connect: [],
  },
  adopt: "ep_1",
}, keep);
`);
});

test("the key __proto__ is written as data, and minus zero with its sign", () => {
  expect(literal(JSON.parse('{"__proto__":-0}'))).toBe('{ ["__proto__"]: -0 }');
});

test("equal policies become one constant; a policy of a single endpoint stays inline", () => {
  const policy = (type: string, status: number) =>
    JSON.stringify({
      on_http_request: [
        {
          actions: [
            { type: "log", config: {} },
            { type, config: { status } },
          ],
        },
      ],
    });
  const { program } = written([
    endpoint("a", "a", { trafficPolicy: policy("deny", 404) }),
    endpoint("b", "b", { trafficPolicy: policy("deny", 404) }),
    endpoint("c", "c", { trafficPolicy: policy("deny", 403) }),
    endpoint("d", "d", { trafficPolicy: policy("deny", 403) }),
    endpoint("e", "e", { trafficPolicy: policy("custom-response", 200) }),
  ]);
  expect(program.match(/^const \w+/gm)).toEqual(["const keep", "const sharedPolicy1", "const sharedPolicy2"]);
  expect(program.match(/trafficPolicy: sharedPolicy1,/g)).toHaveLength(2);
  expect(program.match(/trafficPolicy: sharedPolicy2,/g)).toHaveLength(2);
  expect(program.match(/trafficPolicy: \{/g)).toHaveLength(1);
  expect(inputsOf(program, []).map(({ trafficPolicy }) => JSON.stringify(trafficPolicy))).toEqual(
    [404, 404, 403, 403].map((status) => policy("deny", status)).concat(policy("custom-response", 200)),
  );
});
