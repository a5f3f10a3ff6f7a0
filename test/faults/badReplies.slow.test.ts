import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../provider/api/apiErrors";
import { expectTimes } from "../growth";
import { CANARY_KEY, wholeList } from "../provider/world";
import { adoptById, adoptByUrl, calls, create, either, settledAll } from "./calls";
import * as hostile from "./hostile";
import { good, id, url } from "./hostile";
import { settled } from "./invariants";
import { type RawReply, type RawService, type ReceivedRequest, rawService } from "./rawService";

/*
 * Whatever a service replies, each call ends with a value or with one readable line that tells no key, after few requests.
 * `settled` checks that.
 */

const MB = 1024 * 1024;
const runs = { numRuns: 100 };
const body = (change: object) => JSON.stringify({ ...good, ...change });
const failure = (parts: object, status = 400): RawReply => ({ status, body: JSON.stringify(parts) });

type Replies = RawReply | ((request: ReceivedRequest, parts: RawService) => RawReply);
const anyStatus = { status: hostile.anyStatus, headers: hostile.anyHeaders, body: hostile.anyBody };
const statusOfFailure = fc.constantFrom(400, 401, 404, 409, 418, 429, 500, 503);
const random: Record<string, fc.Arbitrary<Replies>> = {
  "endpoint fields of any type": hostile.endpointText.map(either),
  "any status, headers and body": fc.record(anyStatus),
  "failure parts of any type": fc.record({ status: statusOfFailure, body: hostile.failureText }),
  "anything to the second request of an adoption": fc
    .record(anyStatus)
    .map(
      (second) => (request, parts) =>
        parts.received.length > 1 ? second : either(body({ description: "by hand" }))(request),
    ),
  "anything to the confirmation of a 404": fc
    .record(anyStatus)
    .map((second) => (_, parts) => (parts.received.length > 1 ? second : { status: 404 })),
};

test.each(Object.entries(random))(
  "a reply with %s causes a value or a readable error",
  async (name, replies) => {
    const parts = await rawService();
    const among = name.includes("adoption") ? [adoptById, adoptByUrl] : calls;
    const property = fc.asyncProperty(replies, fc.constantFrom(...among), async (reply, call) => {
      parts.answers((request) => (typeof reply === "function" ? reply(request, parts) : reply));
      const outcome = await settled(parts, () => call.run(parts));
      if (
        "error" in outcome &&
        outcome.error instanceof ApiError &&
        typeof reply !== "function" &&
        "status" in reply
      )
        expect(outcome.error.status).toBe(reply.status);
    });
    await fc.assert(property, runs);
  },
);

const long = "x".repeat(MB);
const deep = {
  lists: `${"[".repeat(10_000)}${"]".repeat(10_000)}`,
  objects: `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`,
  "lists that are never closed": "[".repeat(10_000),
  "items of items": "- ".repeat(10_000),
};
const operation = { operation_id: "op_1" };
const fixed: [name: string, reply: Parameters<RawService["answers"]>[0]][] = [
  ...Object.keys(good).flatMap((name): typeof fixed => [
    [`1 MB in ${name}`, either(body({ [name]: long, port: "high" }))],
    [`the key in ${name}`, either(body({ [name]: CANARY_KEY, port: "high" }))],
  ]),
  [
    "the key in a failure",
    failure({ msg: CANARY_KEY, error_code: CANARY_KEY, details: { operation_id: CANARY_KEY } }),
  ],
  ["a failure of 1 MB", failure({ msg: long, error_code: long, details: { operation_id: long } })],
  ["a failure's code that ends with a number after 1 MB", failure({ error_code: `${"_1".repeat(MB / 2)}x` })],
  ["a failure of many lines", failure({ msg: "a\n".repeat(MB / 2) })],
  ["a failure with the key in it, a thousand times", failure({ msg: `${CANARY_KEY} `.repeat(1000) })],
  ["20,000 invalid items", { body: `{"endpoints":[${"1,".repeat(19_999)}1]}` }],
  ["a body after a 204", { raw: "HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\n{}" }],
  ["a status beyond three digits", { raw: "HTTP/1.1 1000 Very\r\ncontent-length: 2\r\n\r\n{}" }],
  ["no length", { raw: `HTTP/1.1 200 OK\r\n\r\n${JSON.stringify(good)}` }],
  ["two lengths", { raw: "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}" }],
  ["a length that is never reached", { raw: `HTTP/1.1 200 OK\r\ncontent-length: 9000\r\n\r\n${body({})}` }],
  ["half a head", { raw: "HTTP/1.1 200 OK\r\ncontent-" }],
  ["broken chunks", { raw: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n" }],
  ["a header of 100 KB", { raw: `HTTP/1.1 200 OK\r\nx: ${"x".repeat(100_000)}\r\n\r\n{}` }],
  [
    "a switch of protocols",
    { raw: "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n" },
  ],
  ["another protocol", { raw: "SSH-2.0-OpenSSH_9.6\r\n" }],
  ["nothing", { raw: "" }],
  ...Object.entries(deep).flatMap(([name, text]): typeof fixed => [
    [`10,000 levels of ${name} in a list`, { body: `{"endpoints":[${body({})},${text}]}` }],
    [
      `10,000 levels of ${name} in a failure`,
      { status: 400, body: `{"error_code":"ERR_NGROK_1","msg":${text}}` },
    ],
    [
      `10,000 levels of ${name} in an unknown field`,
      either(`${body({}).slice(0, -1)},"unheard_of":${text}}`),
    ],
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

test.each([
  ["code", { error_code: 18009, msg: "taken", details: operation }, /taken.*op_1/],
  ["message", { error_code: "ERR_NGROK_18009", msg: {}, details: operation }, /18009.*op_1/],
  [
    "details",
    { error_code: "ERR_NGROK_18009", msg: "taken", details: null },
    /18009 taken.*choose another url/,
  ],
  ["operation", { error_code: "ERR_NGROK_18009", msg: "taken", details: { operation_id: 1 } }, /18009 taken/],
])(
  "a failure whose %s has the wrong type causes an error with the other parts",
  async (_, reply, reported) => {
    const parts = await rawService();
    parts.answers(failure(reply, 409));
    expect(await settled(parts, () => create.run(parts))).toMatchObject({
      error: { message: expect.stringMatching(reported) },
    });
  },
);

test("a policy with odd keys causes no warning of Node with them", async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on("warning", note);
  await settledAll(
    await rawService(),
    either(body({ traffic_policy: "? [CANARY]\n: 1\n? {CANARY: 2}\n: !odd 3" })),
  );
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", note);
  expect(warnings.join()).not.toContain("CANARY");
});

test("stray bytes after a reply do not affect the next one", async () => {
  const parts = await rawService();
  const stray = body({ id: "ep_stray" });
  const behind = `HTTP/1.1 200 OK\r\ncontent-length: ${stray.length}\r\n\r\n${stray}`;
  parts.answers(({ method }) => (method === "DELETE" ? { status: 204, behind } : { body: body({}) }));
  for (let i = 0; i < 20; i++) {
    await settled(parts, () => parts.api.delete(id));
    expect(await settled(parts, () => parts.api.get(id))).toMatchObject({ value: { id } });
  }
});

test("a policy of 10 MB causes no unexpected error", async () => {
  const parts = await rawService();
  parts.answers(either(body({ traffic_policy: JSON.stringify({ a: "x".repeat(10 * MB) }) })));
  for (const call of [create, adoptByUrl]) await settled(parts, () => call.run(parts));
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
    const status = fc.constantFrom(200, 201, 202);
    const property = fc.asyncProperty(hostile.endpointTextAbout, status, async (text, code) => {
      parts.answers({ status: code, body: text });
      const outcome = await settled(parts, () => create.run(parts));
      expect(outcome).toMatchObject({
        value: { id, outs: { url, type: "cloud", __given: expect.any(Array) } },
      });
      expect(parts.received).toHaveLength(1);
    });
    await fc.assert(property, runs);
  });

  test.each(["\ud800", "ep_1\nep_2", "../agents", ".."])(
    "such as %j never causes a request for another path",
    async (strange) => {
      const parts = await rawService();
      parts.answers({ status: 201, body: body({ id: strange, port: "high" }) });
      await settled(parts, () => create.run(parts));
      parts.answers(either(body({ id: strange })));
      await settled(parts, () => adoptByUrl.run(parts));
      for (const call of ["get", "delete"] as const)
        await settled(parts, async () => parts.api[call](strange));
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
        "javascript:alert(1)",
        "file:///etc/passwd",
        `blob:${parts.baseUrl}/x`,
        `${other.baseUrl}/endpoints?before_id=ep_1`,
        `//${host}/endpoints`,
        `\\\\${host}\\endpoints`,
        `${parts.baseUrl}@${host}/`,
        `${parts.baseUrl.replace("//", "//user:password@")}/endpoints?a=b`,
        `?${"x".repeat(100_000)}`,
        "/../../etc",
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
    expect(await settled(parts, () => wholeList(parts.api))).toMatchObject({ error: { name: "ReplyError" } });
  });
});
