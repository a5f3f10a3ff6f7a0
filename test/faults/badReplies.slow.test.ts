import { setInterval } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ApiError } from "../../provider/api/apiErrors";
import { CANARY_KEY, wholeList } from "../provider/world";
import { calls, either, settled, settledAll } from "./calls";
import * as hostile from "./hostile";
import { body, good, id } from "./hostile";
import { type RawReply, type RawService, type ReceivedRequest, rawService } from "./rawService";

/*
 * Whatever a service replies, each call ends with a value or with one readable line that tells no key, after few requests.
 * `settled` checks that.
 */

const MB = 1024 * 1024;
const runs = { numRuns: 100 };
const failure = (parts: object, status = 400): RawReply => ({ status, body: JSON.stringify(parts) });
const adoptions = [calls["an adoption by id"], calls["an adoption by URL"]];

type Replies = (request: ReceivedRequest, parts: RawService) => RawReply;
const always =
  (reply: RawReply): Replies =>
  () =>
    reply;
const secondly =
  (second: RawReply, first: Replies): Replies =>
  (request, parts) =>
    parts.received.length > 1 ? second : first(request, parts);
const statusOfFailure = fc.constantFrom(400, 401, 404, 409, 418, 429, 500, 503);
const failures = fc.record({ status: statusOfFailure, body: hostile.failureText });

test.each<[string, fc.Arbitrary<Replies>, object]>([
  ["endpoint fields of any type", hostile.endpointText.map(either), calls],
  ["any status, headers and body", hostile.anyReply.map(always), calls],
  ["failure parts of any type", failures.map(always), calls],
  [
    "anything to the second request of an adoption",
    hostile.anyReply.map((second) => secondly(second, either(body({ description: "by hand" })))),
    adoptions,
  ],
  [
    "anything to the confirmation of a 404",
    hostile.anyReply.map((second) => secondly(second, always({ status: 404 }))),
    calls,
  ],
])("a reply with %s causes a value or a readable error", async (_, replies, among) => {
  const parts = await rawService();
  const property = fc.asyncProperty(
    replies,
    fc.constantFrom(...Object.values(among)),
    async (reply, call) => {
      const statuses: number[] = [];
      parts.answers((request) => {
        const answered = reply(request, parts);
        if (!("raw" in answered)) statuses.push(answered.status ?? 200);
        return answered;
      });
      const outcome = await settled(parts, call);
      if ("error" in outcome && outcome.error instanceof ApiError)
        expect(statuses).toContain(outcome.error.status);
    },
  );
  await fc.assert(property, runs);
});

const long = "x".repeat(MB);
const deep = {
  lists: `${"[".repeat(10_000)}${"]".repeat(10_000)}`,
  objects: `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`,
  "lists that are never closed": "[".repeat(10_000),
  "items of items": "- ".repeat(10_000),
};
/** A failure with the same text in every part. */
const failing = (text: string, msg = text) =>
  failure({ msg, error_code: text, details: { operation_id: text } });
const raw = (rest: string): RawReply => ({ raw: `HTTP/1.1 ${rest}` });

const fixed: [name: string, reply: Parameters<RawService["answers"]>[0]][] = [
  ...Object.keys(good).flatMap((name): typeof fixed => [
    [`1 MB in ${name}`, either(body({ [name]: long, port: "high" }))],
    [`the key in ${name}`, either(body({ [name]: CANARY_KEY, port: "high" }))],
  ]),
  ["the key in a failure", failing(CANARY_KEY)],
  ["a failure of 1 MB", failing(long)],
  ["a failure's code that ends with a number after 1 MB", failure({ error_code: `${"_1".repeat(MB / 2)}x` })],
  ["5,000 invalid items", { body: `{"endpoints":[${"1,".repeat(4_999)}1]}` }],
  ["a body after a 204", raw("204 No Content\r\ncontent-length: 2\r\n\r\n{}")],
  ["a length that is never reached", raw(`200 OK\r\ncontent-length: 9000\r\n\r\n${body()}`)],
  ["broken chunks", raw("200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n")],
  ["a switch of protocols", raw("101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n")],
  ["another protocol", { raw: "SSH-2.0-OpenSSH_9.6\r\n" }],
  ...Object.entries(deep).flatMap(([name, text]): typeof fixed => [
    [`10,000 levels of ${name} in a list`, { body: `{"endpoints":[${body()},${text}]}` }],
    [`10,000 levels of ${name} in a failure`, { status: 400, body: `{"msg":${text}}` }],
    [`10,000 levels of ${name} in an unknown field`, either(`${body().slice(0, -1)},"unheard_of":${text}}`)],
  ]),
];

test.each(fixed)("a reply with %s causes values or readable errors", async (_, reply) => {
  await settledAll(await rawService(), reply);
});

test.each(Object.entries(deep))("a document with 10,000 levels of %s causes no error", async (_, text) => {
  const parts = await rawService();
  for (const change of [{ traffic_policy: text }, { metadata: text }, { traffic_policy: `a: ${text}` }]) {
    const outcomes = await settledAll(parts, either(body(change)));
    expect(outcomes.filter((outcome) => "error" in outcome)).toEqual([]);
  }
});

test("a policy with odd keys causes no warning of Node with them", async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on("warning", note);
  const odd = "? [CANARY]\n: 1\n? {CANARY: 2}\n: !odd 3";
  await settledAll(await rawService(), either(body({ traffic_policy: odd })));
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", note);
  expect(warnings.join()).not.toContain("CANARY");
});

test("a body of 50 MB is not kept in memory, and one that never ends fails after the timeout", async () => {
  const parts = await rawService({ timeoutSeconds: "1", retryForSeconds: "1" });
  const chunk = Buffer.alloc(64 * 1024, "x");
  parts.answers(() => ({ body: Array(800).fill(chunk) }));
  const before = process.memoryUsage().external;
  await settled(parts, () => parts.api.get(id));
  expect(process.memoryUsage().external - before).toBeLessThan(40 * MB);
  parts.answers(() => ({ body: setInterval(100, Buffer.from(" ")) }));
  const outcome = await settled(parts, () => parts.api.create({}));
  expect(outcome).toMatchObject({ error: { name: "ConnectionError" } });
});

test.each(["\ud800", "ep_1\nep_2", "../agents", ".."])(
  "an id such as %j in the reply to a create never causes a request for another path",
  async (strange) => {
    const parts = await rawService();
    parts.answers({ status: 201, body: body({ id: strange, port: "high" }) });
    await settled(parts, calls["a create"]);
    parts.answers(either(body({ id: strange })));
    await settled(parts, calls["an adoption by URL"]);
    for (const call of ["get", "delete"] as const) await settled(parts, () => parts.api[call](strange));
    for (const { path } of parts.received) expect(path).toMatch(/^\/endpoints(\?filter=[^/]*|\/[^/]+)?$/);
  },
);

test("a list is read only from the configured service, for any next_page_uri, and fails without an end", async () => {
  const [parts, other] = [await rawService(), await rawService()];
  const { host } = new URL(other.baseUrl);
  const next = fc.oneof(
    hostile.hostileValue,
    fc.webUrl({ withQueryParameters: true, withFragments: true }),
    fc.constantFrom(
      ...["javascript:alert(1)", "file:///etc/passwd", "/../../etc", `?${"x".repeat(100_000)}`],
      ...[`${other.baseUrl}/endpoints?before_id=ep_1`, `//${host}/endpoints`, `\\\\${host}\\endpoints`],
      ...[`${parts.baseUrl}@${host}/`, `${parts.baseUrl.replace("//", "//user:password@")}/endpoints?a=b`],
    ),
  );
  const property = fc.asyncProperty(next, async (next_page_uri) => {
    parts.answers({ body: JSON.stringify({ endpoints: [good], next_page_uri }) });
    await settled(parts, () => wholeList(parts.api));
    expect(other.received).toEqual([]);
    for (const { path } of parts.received) expect(path).toMatch(/^\/endpoints(\?|$)/);
  });
  await fc.assert(property, runs);

  const endless = () => JSON.stringify({ endpoints: [], next_page_uri: `?a=${parts.received.length}` });
  parts.answers(() => ({ body: endless() }));
  const outcome = await settled(parts, () => wholeList(parts.api));
  expect(outcome).toMatchObject({ error: { name: "ReplyError" } });
});
