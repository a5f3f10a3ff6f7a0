import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../provider/api/apiErrors";
import { expectTimes } from "../growth";
import { CANARY_KEY, wholeList } from "../provider/world";
import { calls, either, settled, settledAll } from "./calls";
import * as hostile from "./hostile";
import { body, good, id, url } from "./hostile";
import { type RawReply, type RawService, type ReceivedRequest, rawService } from "./rawService";

/*
 * Whatever a service replies, each call ends with a value or with one readable line that tells no key, after few requests.
 * `settled` checks that.
 */

const MB = 1024 * 1024;
const runs = { numRuns: 100 };
const failure = (parts: object, status = 400): RawReply => ({ status, body: JSON.stringify(parts) });
const create = calls["a create"];
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
  ["endpoint fields of any type", hostile.endpointText().map(either), calls],
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
  ["a failure of many lines", failure({ msg: "a\n".repeat(MB / 2) })],
  ["a failure with the key in it, a thousand times", failure({ msg: `${CANARY_KEY} `.repeat(1000) })],
  ["5,000 invalid items", { body: `{"endpoints":[${"1,".repeat(4_999)}1]}` }],
  ["a policy of 1 MB", either(body({ traffic_policy: JSON.stringify({ a: long }) }))],
  ["a body after a 204", raw("204 No Content\r\ncontent-length: 2\r\n\r\n{}")],
  ["a status beyond three digits", raw("1000 Very\r\ncontent-length: 2\r\n\r\n{}")],
  ["no length", raw(`200 OK\r\n\r\n${body()}`)],
  ["two lengths", raw("200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}")],
  ["a length that is never reached", raw(`200 OK\r\ncontent-length: 9000\r\n\r\n${body()}`)],
  ["half a head", raw("200 OK\r\ncontent-")],
  ["broken chunks", raw("200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n")],
  ["a header of 100 KB", raw(`200 OK\r\nx: ${"x".repeat(100_000)}\r\n\r\n{}`)],
  ["a switch of protocols", raw("101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n")],
  ["another protocol", { raw: "SSH-2.0-OpenSSH_9.6\r\n" }],
  ["nothing", { raw: "" }],
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

const taken = { error_code: "ERR_NGROK_18009", msg: "taken", details: { operation_id: "op_1" } };
test.each<[string, object, RegExp]>([
  ["code", { error_code: 18009 }, /taken.*op_1/],
  ["message", { msg: {} }, /18009.*op_1/],
  ["details", { details: null }, /18009 taken.*choose another url/],
  ["operation", { details: { operation_id: 1 } }, /18009 taken/],
])(
  "a failure whose %s has the wrong type causes an error with the other parts",
  async (_, part, reported) => {
    const parts = await rawService();
    parts.answers(failure({ ...taken, ...part }, 409));
    const error = { message: expect.stringMatching(reported) };
    expect(await settled(parts, create)).toMatchObject({ error });
  },
);

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

test("stray bytes after a reply do not affect the next one", async () => {
  const parts = await rawService();
  const stray = body({ id: "ep_stray" });
  const behind = `HTTP/1.1 200 OK\r\ncontent-length: ${stray.length}\r\n\r\n${stray}`;
  parts.answers(({ method }) => (method === "DELETE" ? { status: 204, behind } : { body: body() }));
  for (let i = 0; i < 20; i++) {
    await settled(parts, () => parts.api.delete(id));
    expect(await settled(parts, () => parts.api.get(id))).toMatchObject({ value: { id } });
  }
});

test("a reply of millions of levels takes little more time than another one", async () => {
  const parts = await rawService();
  const levels = "[".repeat(2 * MB) + "]".repeat(2 * MB);
  await expectTimes(10, JSON.stringify("x".repeat(4 * MB)), levels, (text) => {
    parts.answers({ body: text });
    return settled(parts, () => parts.api.get(id));
  });
});

test("a body of 50 MB is not kept in memory, and one that never ends fails after the timeout", async () => {
  const parts = await rawService({ timeoutSeconds: "1", retryForSeconds: "1" });
  const chunk = Buffer.alloc(64 * 1024, "x");
  for (const status of [200, 400]) {
    parts.answers(() => ({ status, body: Array(800).fill(chunk) }));
    const before = process.memoryUsage().external;
    await settled(parts, () => parts.api.get(id));
    expect(process.memoryUsage().external - before).toBeLessThan(40 * MB);
  }
  parts.answers(() => ({ body: trickle() }));
  const outcome = await settled(parts, () => parts.api.create({}));
  expect(outcome).toMatchObject({ error: { name: "ConnectionError" } });
});

async function* trickle() {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    yield Buffer.from(" ");
  }
}

describe("an id in the reply to a create", () => {
  test("is always stored with the sent inputs, whatever the other fields are", async () => {
    const parts = await rawService();
    const text = hostile.endpointText("id", "url", "type");
    const status = fc.constantFrom(200, 201, 202);
    const property = fc.asyncProperty(fc.record({ status, body: text }), async (reply) => {
      parts.answers(reply);
      const outs = { url, type: "cloud", __given: expect.any(Array) };
      expect(await settled(parts, create)).toMatchObject({ value: { id, outs } });
      expect(parts.received).toHaveLength(1);
    });
    await fc.assert(property, runs);
  });

  test.each(["\ud800", "ep_1\nep_2", "../agents", ".."])(
    "such as %j never causes a request for another path",
    async (strange) => {
      const parts = await rawService();
      parts.answers({ status: 201, body: body({ id: strange, port: "high" }) });
      await settled(parts, create);
      parts.answers(either(body({ id: strange })));
      await settled(parts, calls["an adoption by URL"]);
      for (const call of ["get", "delete"] as const) await settled(parts, () => parts.api[call](strange));
      for (const { path } of parts.received) expect(path).toMatch(/^\/endpoints(\?filter=[^/]*|\/[^/]+)?$/);
    },
  );
});

describe("a list", () => {
  test("returns all valid items in order, despite invalid ones between them", async () => {
    const parts = await rawService();
    const items = fc.array(fc.tuple(fc.boolean(), hostile.itemText), { minLength: 1, maxLength: 12 });
    const property = fc.asyncProperty(items, async (list) => {
      const texts = list.map(([ok, text], i) => (ok ? body({ id: `ep_good${i}` }) : text));
      parts.answers({ body: `{"endpoints":[${texts.join()}]}` });
      const { endpoints, skipped } = await wholeList(parts.api);
      // Several invalid items may have the same id. The last one counts.
      expect(skipped.length).toBeLessThanOrEqual(list.filter(([ok]) => !ok).length);
      const ids = endpoints.map(({ id }) => id).filter((id) => id.startsWith("ep_good"));
      expect(ids).toEqual(list.flatMap(([ok], i) => (ok ? [`ep_good${i}`] : [])));
    });
    await fc.assert(property, runs);
  });

  test("is read only from the configured service, for any next_page_uri, and fails without an end", async () => {
    const parts = await rawService();
    const other = await rawService();
    const { host } = new URL(other.baseUrl);
    const next = fc.oneof(
      hostile.hostileValue,
      fc.webUrl({ withQueryParameters: true, withFragments: true }),
      fc.webQueryParameters().map((query) => `?${query}`),
      fc.constantFrom(
        ...["javascript:alert(1)", "file:///etc/passwd", `blob:${parts.baseUrl}/x`, "/../../etc"],
        ...[`${other.baseUrl}/endpoints?before_id=ep_1`, `//${host}/endpoints`, `\\\\${host}\\endpoints`],
        `${parts.baseUrl}@${host}/`,
        `${parts.baseUrl.replace("//", "//user:password@")}/endpoints?a=b`,
        `?${"x".repeat(100_000)}`,
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
});
