import { expect, test } from "vitest";
import { parseRetryAfter } from "../../provider/api/retry";
import { settledAll } from "./calls";
import { good, id } from "./hostile";
import { settled } from "./invariants";
import { rawService } from "./rawService";

const failure = JSON.stringify({ error_code: "ERR_NGROK_226", msg: "slow down" });

const garbage = [
  "-5",
  "-1",
  "+5",
  "1.5",
  "5,5",
  "1e309",
  "0x10",
  "NaN",
  "Infinity",
  "null",
  "soon",
  "12 apples",
  "",
  " ",
];
const past = ["0", "00", "Thu, 01 Jan 1970 00:00:00 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"];
const beyond = ["9".repeat(20), "9".repeat(400), "Fri, 31 Dec 9999 23:59:59 GMT", "86400"];

test.each(garbage)("Retry-After %j is ignored", (header) => {
  expect(parseRetryAfter(header, Date.now())).toBeUndefined();
});

test.each([...garbage, ...past, ...beyond])(
  "Retry-After %j causes no endless repetition and no wait beyond ten minutes",
  async (header) => {
    const parts = await rawService();
    for (const status of [429, 503]) {
      parts.waits.length = 0;
      await settledAll(parts, { status, headers: { "retry-after": header }, body: failure });
      for (const wait of parts.waits) expect(wait).toBeLessThanOrEqual(600_000);
    }
  },
);

test.each([429, 503])(
  "a %i with a Retry-After of zero or in the past is repeated with waits",
  async (status) => {
    const parts = await rawService();
    for (const header of past) {
      parts.answers({ status, headers: { "retry-after": header }, body: failure });
      parts.waits.length = 0;
      await settled(parts, () => parts.api.get(id));
      expect(parts.waits.reduce((sum, wait) => sum + wait, 0)).toBeGreaterThan(1000);
    }
  },
);

test("several Retry-After headers cause no error", async () => {
  const parts = await rawService();
  const head = "HTTP/1.1 503 No\r\nretry-after: 1\r\nretry-after: 2\r\ncontent-length: 0\r\n\r\n";
  parts.answers(() => (parts.received.length > 1 ? { body: JSON.stringify(good) } : { raw: head }));
  expect(await settled(parts, () => parts.api.get(id))).toMatchObject({ value: { id } });
});
