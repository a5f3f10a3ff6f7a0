import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Path } from "../../../provider/data/index";
import { findSecrets } from "../../../provider/endpoint/secretSearch";
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
  const body = program.replaceAll(/^import .*$/gm, "");
  new Function("CloudEndpoint", "pulumi", `"use strict";${body}`)(CloudEndpoint, { Config });
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
/** Only the scheme of a header, or blanks. */
const isNothing = (secret: unknown) => /^((Bearer|Basic|Token|ApiKey) +)?\s*$/i.test(`${secret}`);

const valueAt = (data: unknown, path: Path): unknown =>
  path.reduce<unknown>((part, name) => Object(part)[name], data);

/** A policy, too, so not all of its keys are numbers. */
const document = fc
  .dictionary(key, data, { maxKeys: 4, minKeys: 1, noNullPrototype: true })
  .filter((data) => !Object.keys(data).every((key) => /^\d+$/.test(key)));

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
        secrets.map((secret) => ({ ...secret, value: "424242" })),
      );
      for (const { path, secret } of findSecrets({ trafficPolicy: policy, metadata }))
        if (!isNothing(secret)) expect(`${valueAt(others[0], path)}`).toBe("424242");
      const [first, second] = inputsOf(program, secrets);
      expect(program).not.toMatch(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/u);
      expect(isDeepStrictEqual(first?.["trafficPolicy"], policy)).toBe(true);
      expect(isDeepStrictEqual(first?.["metadata"], metadata)).toBe(true);
      expect(isDeepStrictEqual(second?.["trafficPolicy"], metadata)).toBe(true);
      expect(second?.["description"]).toBe("CANARY-one");
    }),
    { numRuns: 100 },
  );
});

const policy = (value: object) => ({ trafficPolicy: JSON.stringify(value) });
/** A rule with this action. */
const deny = (status: number) =>
  policy({
    on_http_request: [
      {
        actions: [
          { type: "log", config: {} },
          { config: { status }, type: "deny" },
        ],
      },
    ],
  });
// biome-ignore lint/suspicious/noTemplateCurlyInString: the service replaces the expression
const VAULT = "${secrets.get('hooks', 'brex')}";

/** Endpoints by their hosts. No program may contain `CANARY`. */
const PROGRAMS: Record<string, Record<string, Record<string, unknown>>> = {
  "names a secret after its endpoint and key, or after the key alone if several endpoints share it": {
    shop: policy({ client_secret: "CANARY-only-of-shop" }),
    api: policy({ "x-api-key": "CANARY-of-both" }),
    web: policy({ config: { tokens: ["CANARY-of-both", "CANARY-only-of-web"] } }),
  },
  "replaces each text with a copy of a secret in it, or only in its own endpoint's if it is short": {
    a: policy({ password: "pass", secret: "CANARY-1", note: "by CANARY-1", hint: "by pass" }),
    b: { ...policy({ note: "by pass" }), description: "was CANARY-1" },
  },
  "takes numbers, short texts and values below a key such as credentials for secrets": {
    a: {
      ...policy({ password: 12345678, pin_token: "abc", note: "abc, 12345678", limit: 12345678 }),
      metadata: '{"secret":99887766,"credentials":{"bob":"CANARY-bob"},"tokens":[{"type":"jwt"}]}',
    },
  },
  "replaces each text with the password of a URL in it": {
    a: {
      ...policy({
        config: { url: "https://x:x@x.example.com" },
        list: ["redis://u:CANARY-long@a,redis://v:y@b", "CANARY-long"],
      }),
      description: "was https://u:CANARY-long@h",
      metadata: "see ftp://m:CANARY-meta@h",
    },
    b: policy({ url: "https://u:CANARY-long@h" }),
  },
  "replaces metadata as a whole that cannot be data and has a secret": {
    a: {
      ...policy({}),
      metadata: '{"owner_id":123456789012345678,"api_key":"CANARY-of-metadata"}',
      description: "note CANARY-of-metadata here",
    },
  },
  "leaves references to the vault as they are": {
    a: policy({
      ...{ secret: VAULT, authorization: `Bearer ${VAULT}`, token: "Bearer CANARY-own" },
      url: `https://u:${VAULT.replace(" ", "")}@h`,
    }),
  },
  "reads no configuration without secrets, and breaks only long lines": {
    shop: policy({
      on_http_request: [
        {
          actions: [1, 2, 3].map((nth) => ({
            type: "add-headers",
            config: { headers: { "x-nth": `${nth}` } },
          })),
        },
      ],
      on_tcp_connect: [],
    }),
  },
  "writes an action's type before its config": {
    a: deny(404),
  },
};

test.each(Object.keys(PROGRAMS))("a program %s", (name) => {
  const lives = Object.entries(PROGRAMS[name] ?? {}).map(([host, fields]) => endpoint(host, host, fields));
  const { secrets, program } = written(lives);
  expect(program).not.toMatch(/CANARY|12345678|99887766/);
  const found = secrets.map(({ name, value, places }) => `${name} = ${value}, at ${places.length}`);
  expect(`${found.join("\n")}\n\n${program}`).toMatchSnapshot();
  expect(inputsOf(program, secrets).map(({ trafficPolicy }) => trafficPolicy)).toEqual(
    lives.map(({ trafficPolicy }) => JSON.parse(String(trafficPolicy))),
  );
});

test("a secret gets a number if the configuration uses its name for something else", () => {
  const lives = [endpoint("1", "shop", policy({ a: { secret: "one-secret" }, b: { secret: "other-one" } }))];
  const { secrets } = written(
    lives,
    (name, value) => name !== "shopExampleComSecret" || value === "other-one",
  );
  expect(secrets.map(({ name }) => name)).toEqual(["shopExampleComSecret2", "shopExampleComSecret"]);
});

test("the key __proto__ is written as data", () => {
  expect(literal(JSON.parse('{"__proto__":1}'))).toBe('{ ["__proto__"]: 1 }');
});
