import fc from "fast-check";
import { endpointFields } from "../../provider/endpoint/fields";
import { CANARY_KEY } from "../provider/world";

export const url = "https://shop.example.com";
export const id = "ep_2Hx0000000000000000000000001";

/** A valid endpoint on the wire. */
export const good = {
  id,
  type: "cloud",
  url,
  public_url: url,
  proto: "https",
  hostport: "shop.example.com:443",
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
  bindings: ["public"],
  traffic_policy: '{"on_http_request":[]}',
  metadata: "{}",
  principal: { id: "usr_1", uri: "" },
};

/** JSON text of the valid endpoint with other values of some fields. */
export const body = (change: object = {}) => JSON.stringify({ ...good, ...change });

const text = (value: unknown) => JSON.stringify(value);

/** Texts with a meaning for parsers, URLs or terminals. */
const hostileText = fc.oneof(
  fc.constantFrom(
    ...["", "\0", "\ud800", "\udc00x", "two\r\nlines", "two\u2028lines", `key ${CANARY_KEY}`],
    ...["__proto__", "..", "%", "?#", "https://", "https://[", "tls://other.example.com"],
    ...["{", "[[", "a: [", "a: *b", "- 1\n- !!js/function x", "{'a': 1e999}"],
  ),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ unit: fc.nat({ max: 0xffff }).map((unit) => String.fromCharCode(unit)), maxLength: 8 }),
  fc.json({ maxDepth: 3 }),
);

/** Values of any type. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom(null, true, false, 0, -1, 1.5, 2 ** 60, [], {}, [null], [[]], { id: 1 }, { id: null }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Keys with a meaning in JavaScript, which are normal keys in JSON. Of a repeated key, the last one counts. */
const poison = fc.constantFrom(
  ...[
    '"__proto__":{"polluted":true},',
    '"__proto__":null,',
    '"constructor":{"prototype":{"polluted":true}},',
  ],
  ...['"toString":1,"hasOwnProperty":"x",', '"then":true,', '"id":null,"url":7,', ""],
);

const FIELDS = Object.keys(endpointFields).map((name) =>
  name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`),
);
const TEXTS = ["type", "url", "description", "metadata", "traffic_policy"];
const few = { minKeys: 1, maxKeys: 3 };

/**
 * JSON text of an endpoint in which a few fields have values of any type, or are missing; or have hostile texts, which pass the
 * checks of types.
 */
export const endpointText: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof(
      fc.dictionary(fc.constantFrom(...FIELDS), fc.option(hostileValue, { nil: undefined }), few),
      fc.dictionary(fc.constantFrom(...TEXTS), hostileText, few),
    ),
    poison,
  )
  .map(([change, first]) => `{${first}${body(change).slice(1)}`);

/** JSON text of a failure with arbitrary parts. */
export const failureText = fc
  .record(
    {
      error_code: hostileValue,
      status_code: hostileValue,
      msg: hostileValue,
      details: fc.oneof(hostileValue, fc.record({ operation_id: hostileValue })),
    },
    { requiredKeys: [] },
  )
  .map(text);

/** Bytes that are invalid or unexpected JSON. */
const anyBody: fc.Arbitrary<string | Buffer> = fc.oneof(
  fc.constantFrom(
    ...["", " ", "null", "0", '""', "[]", "{}", "{", "NaN", "\ufeff{}", "<html><body>CANARY</body></html>"],
    ...['{"id":"ep_1"', '{"id":"ep_1",}', '{"endpoints":{}}', '{"endpoints":null,"next_page_uri":1}'],
  ),
  endpointText.chain((whole) => fc.nat({ max: whole.length }).map((end) => whole.slice(0, end))),
  hostileValue.map(text),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  // Invalid UTF-8 in a string.
  fc
    .uint8Array({ maxLength: 20 })
    .map((bytes) => Buffer.concat([Buffer.from('{"id":"ep_'), bytes, Buffer.from('"}')])),
);

/** Statuses of final replies. 1xx are not final. */
const anyStatus = fc.oneof(
  fc.constantFrom(...[200, 201, 204, 205, 206, 301, 304, 308, 400, 401, 403, 404, 409, 429]),
  fc.integer({ min: 200, max: 999 }),
);

const anyHeaders: fc.Arbitrary<Record<string, string>> = fc.constantFrom<Record<string, string>[]>(
  {},
  { "content-type": "text/html" },
  { "content-type": "application/json; charset=utf-16" },
  { "content-type": "" },
  { "content-encoding": "gzip" },
  { "content-encoding": "br, gzip" },
  { location: "http://127.0.0.1:9/endpoints" },
  { location: "javascript:alert(1)" },
  { "set-cookie": "a=b" },
);

export const anyReply = fc.record({ status: anyStatus, headers: anyHeaders, body: anyBody });
