import { setInterval } from "node:timers/promises";
import { expect, test } from "vitest";
import { CANARY_KEY, wholeList } from "../provider/emulated";
import { asReply, bodyOf, checkAllOperations, checkInvariants, operations, valid } from "./operations";
import { type RawReply, type RawService, type ReceivedRequest, rawService } from "./rawService";

/*
 * The invariants of each call, whatever the service replies: the call ends with a value or with one readable line without the
 * key, after few requests (`checkInvariants`).
 */

const MB = 1024 * 1024;
/** Values with a meaning for parsers, URLs, terminals or JavaScript. */
const hostile: unknown[] = [
  ...["", "\0", "\ud800", "\udc00x", "two\r\nlines", "two\u2028lines", `key ${CANARY_KEY}`, "x".repeat(MB)],
  ...["..", "%", "?#", "https://", "https://[", "tls://other.example.com"],
  ...["__proto__", "{", "[[", "a: [", "a: *b", "- 1\n- !!js/function x", "{'a': 1e999}"],
  ...[null, true, -1, 1.5, 2 ** 60, [], {}, [null], [[]], { id: null }],
];
const { id: _, url: __, type: ___, ...others } = valid;

test.each<[string, string[]]>([
  ["the id", ["id"]],
  ["the URL", ["url"]],
  ["the type", ["type"]],
  ["all other fields", Object.keys(others)],
])("a reply with any value in %s causes values or readable errors", async (_, names) => {
  const parts = await rawService();
  for (const value of hostile)
    await checkAllOperations(parts, asReply(bodyOf(Object.fromEntries(names.map((name) => [name, value])))));
});

test.each([200, 204, 301, 404, 999])(
  "a reply with status %i and any body causes values or readable errors",
  async (status) => {
    const parts = await rawService();
    for (const text of [
      ...[
        "",
        "null",
        "0",
        "[]",
        "{",
        "NaN",
        "\ufeff{}",
        "<html><body>CANARY</body></html>",
        bodyOf().slice(0, -9),
      ],
      ...['{"endpoints":{}}', '{"endpoints":null,"next_page_uri":1}', Buffer.from('{"\xff\xfe"}', "latin1")],
    ])
      await checkAllOperations(parts, { status, body: text });
  },
);

test("a failure with any value in its parts causes readable errors", async () => {
  const parts = await rawService();
  for (const value of hostile)
    for (const code of [value, "ERR_NGROK_9"]) await checkAllOperations(parts, failure(value, code));
});

const deep = {
  lists: `${"[".repeat(10_000)}${"]".repeat(10_000)}`,
  objects: `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`,
  "lists that are never closed": "[".repeat(10_000),
  "items of items": "- ".repeat(10_000),
};
const poison = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"then":true,';

type Row = [name: string, reply: Parameters<RawService["answers"]>[0]];
test.each<Row>([
  ["keys with a meaning in JavaScript", asReply(poison + bodyOf().slice(1))],
  ["5,000 invalid items", { body: `{"endpoints":[${"1,".repeat(4_999)}1]}` }],
  ["a failure's code that ends with a number after 1 MB", failure(`${"_1".repeat(MB / 2)}x`)],
  [
    "a page of HTML in place of the list that confirms a 404",
    byRequest(/^GET .*endpoints(\?|$)/, { status: 404 }),
  ],
  [
    "a page of HTML to the update of an adoption",
    byRequest(/^PATCH/, { body: bodyOf({ description: "old" }) }),
  ],
  ...Object.entries(deep).flatMap(([name, text]): Row[] => [
    [`10,000 levels of ${name} in a list`, { body: `{"endpoints":[${bodyOf()},${text}]}` }],
    [`10,000 levels of ${name} in a failure`, { status: 400, body: `{"msg":${text}}` }],
    [
      `10,000 levels of ${name} in an unknown field`,
      asReply(`${bodyOf().slice(0, -1)},"unheard_of":${text}}`),
    ],
  ]),
])("a reply with %s causes values or readable errors", async (_, reply) => {
  await checkAllOperations(await rawService(), reply);
});

test.each(Object.entries(deep))("a document with 10,000 levels of %s causes no error", async (_, text) => {
  const parts = await rawService();
  for (const change of [{ traffic_policy: text }, { metadata: text }, { traffic_policy: `a: ${text}` }]) {
    const outcomes = await checkAllOperations(parts, asReply(bodyOf(change)));
    // These replies never show what an update has sent.
    const isIgnored = ({ message }: Error) =>
      message.includes("the service accepted the change, but old values");
    expect(outcomes.filter((outcome) => "error" in outcome && !isIgnored(outcome.error))).toEqual([]);
  }
});

test("a policy with odd keys causes no warning of Node with them", async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on("warning", note);
  const odd = "? [CANARY]\n: 1\n? {CANARY: 2}\n: !odd 3";
  await checkAllOperations(await rawService(), asReply(bodyOf({ traffic_policy: odd })));
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", note);
  expect(warnings.join()).not.toContain("CANARY");
});

test("a body that never ends fails after the timeout", async () => {
  const parts = await rawService({ timeoutSeconds: "1", retryForSeconds: "1" });
  parts.answers(() => ({ body: setInterval(100, Buffer.from(" ")) }));
  const outcome = await checkInvariants(parts, () => parts.api.create({}));
  expect(outcome).toMatchObject({ error: { name: "ConnectionError" } });
});

test.each(["\ud800", "ep_1\nep_2", "../agents", ".."])(
  "an id such as %j in the reply to a create never causes a request for another path",
  async (strange) => {
    const parts = await rawService();
    parts.answers({ status: 201, body: bodyOf({ id: strange, port: "high" }) });
    await checkInvariants(parts, operations["a create"]);
    parts.answers(asReply(bodyOf({ id: strange })));
    await checkInvariants(parts, operations["an adoption"]);
    for (const operation of ["get", "delete"] as const)
      await checkInvariants(parts, () => parts.api[operation](strange));
    for (const { path } of parts.received) expect(path).toMatch(/^\/endpoints(\?filter=[^/]*|\/[^/]+)?$/);
  },
);

test("a list is read only from the configured service, for any next_page_uri, and fails without an end", async () => {
  const [parts, other] = [await rawService(), await rawService()];
  const { host } = new URL(other.baseUrl);
  for (const next_page_uri of [
    ...hostile,
    ...["javascript:alert(1)", "file:///etc/passwd", "/../../etc", `?${"x".repeat(100_000)}`],
    ...[`${other.baseUrl}/endpoints?before_id=ep_1`, `//${host}/endpoints`, `\\\\${host}\\endpoints`],
    ...[`${parts.baseUrl}@${host}/`, `${parts.baseUrl.replace("//", "//user:password@")}/endpoints?a=b`],
  ]) {
    parts.answers({ body: JSON.stringify({ endpoints: [valid], next_page_uri }) });
    await checkInvariants(parts, () => wholeList(parts.api));
    expect(other.received).toEqual([]);
    for (const { path } of parts.received) expect(path).toMatch(/^\/endpoints(\?|$)/);
  }
  const endless = () => JSON.stringify({ endpoints: [], next_page_uri: `?a=${parts.received.length}` });
  parts.answers(() => ({ body: endless() }));
  const outcome = await checkInvariants(parts, () => wholeList(parts.api));
  expect(outcome).toMatchObject({ error: { name: "ReplyError" } });
});

/** A failure with the same value in every part. The code may differ, because a text without the service's code is not quoted. */
function failure(value: unknown, error_code = value): RawReply {
  const parts = { msg: value, error_code, details: { operation_id: value } };
  return { status: 400, body: JSON.stringify(parts) };
}

/** A page of HTML to these requests, and another reply to the rest. */
function byRequest(pages: RegExp, reply: RawReply): (request: ReceivedRequest) => RawReply {
  return ({ method, path }) => (pages.test(`${method} ${path}`) ? { body: "<html>" } : reply);
}
