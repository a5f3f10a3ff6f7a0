import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../provider/api/apiErrors";
import { CANARY_KEY } from "../provider/service";
import { adoptById, adoptByUrl, calls, create, either, settledAll } from "./calls";
import * as hostile from "./hostile";
import { good, id, url } from "./hostile";
import { settled } from "./invariants";
import { rawService } from "./rawService";

const anyCall = fc.constantFrom(...calls);
const runs = { numRuns: 300 };

describe("a reply", () => {
  test("with endpoint fields of any type causes an endpoint or a readable error", async () => {
    const parts = await rawService();
    const property = fc.asyncProperty(hostile.endpointText, anyCall, async (text, call) => {
      parts.answers(either(text));
      await settled(parts, () => call.run(parts));
    });
    await fc.assert(property, runs);
  });

  test("with any status, headers and body causes a value or a readable error", async () => {
    const parts = await rawService();
    const reply = { status: hostile.anyStatus, headers: hostile.anyHeaders, body: hostile.anyBody };
    const property = fc.asyncProperty(fc.record(reply), anyCall, async (answer, call) => {
      parts.answers(answer);
      await settled(parts, () => call.run(parts));
    });
    await fc.assert(property, runs);
  });

  test("with failure parts of any type causes a readable error", async () => {
    const parts = await rawService();
    const status = fc.constantFrom(400, 401, 404, 409, 418, 429, 500, 503);
    const property = fc.asyncProperty(status, hostile.failureText, anyCall, async (code, body, call) => {
      parts.answers({ status: code, body });
      const outcome = await settled(parts, () => call.run(parts));
      if ("error" in outcome && outcome.error instanceof ApiError) expect(outcome.error.status).toBe(code);
    });
    await fc.assert(property, runs);
  });

  test.each([
    ["code", { error_code: 18009, msg: "taken", details: { operation_id: "op_1" } }, /taken.*op_1/],
    ["message", { error_code: "ERR_NGROK_18009", msg: {}, details: { operation_id: "op_1" } }, /18009.*op_1/],
    [
      "details",
      { error_code: "ERR_NGROK_18009", msg: "taken", details: null },
      /18009 taken.*choose another url/,
    ],
    [
      "operation",
      { error_code: "ERR_NGROK_18009", msg: "taken", details: { operation_id: 1 } },
      /18009 taken/,
    ],
  ])(
    "with a failure whose %s has the wrong type causes an error with the other parts",
    async (_, failure, reported) => {
      const parts = await rawService();
      parts.answers({ status: 409, body: JSON.stringify(failure) });
      expect(await settled(parts, () => create.run(parts))).toMatchObject({
        error: { message: expect.stringMatching(reported) },
      });
    },
  );

  test("to the second request of an adoption or of a 404's confirmation causes a value or a readable error", async () => {
    const parts = await rawService();
    const drifted = JSON.stringify({ ...good, description: "by hand" });
    const property = fc.asyncProperty(
      hostile.anyBody,
      hostile.anyStatus,
      anyCall,
      async (body, status, call) => {
        const isAdoption = call === adoptById || call === adoptByUrl;
        parts.answers((request) => {
          if (parts.received.length > 1) return { status, body };
          return isAdoption ? either(drifted)(request) : { status: 404 };
        });
        await settled(parts, () => call.run(parts));
      },
    );
    await fc.assert(property, runs);
  });

  test.each([...Object.keys(good), "msg", "error_code", "operation_id"])(
    "with the key in %s causes no message with the key",
    async (name) => {
      const parts = await rawService();
      const failure = { error_code: "ERR_NGROK_1", [name]: CANARY_KEY, details: { [name]: CANARY_KEY } };
      await settledAll(parts, { status: 400, body: JSON.stringify(failure) });
      for (const port of [443, "high"]) {
        await settledAll(parts, either(JSON.stringify({ ...good, port, [name]: CANARY_KEY })));
      }
    },
  );

  test("with odd keys in a policy causes no warning of Node with them", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on("warning", note);
    const traffic_policy = "? [CANARY]\n: 1\n? {CANARY: 2}\n: !odd 3";
    await settledAll(await rawService(), either(JSON.stringify({ ...good, traffic_policy })));
    await new Promise((resolve) => setTimeout(resolve, 10));
    process.off("warning", note);
    expect(warnings.join()).not.toContain("CANARY");
  });

  test.each([
    ["has a body after a 204", "HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\n{}"],
    ["has a body after a 304", "HTTP/1.1 304 Not Modified\r\ncontent-length: 2\r\n\r\n{}"],
    ["has a status beyond three digits", "HTTP/1.1 1000 Very\r\ncontent-length: 2\r\n\r\n{}"],
    ["has no length", `HTTP/1.1 200 OK\r\n\r\n${JSON.stringify(good)}`],
    ["has two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}"],
    ["has a negative length", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{}"],
    ["breaks off", `HTTP/1.1 200 OK\r\ncontent-length: 9000\r\n\r\n${JSON.stringify(good)}`],
    ["breaks off in its head", "HTTP/1.1 200 OK\r\ncontent-"],
    ["has broken chunks", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"],
    ["has a header of 100 KB", `HTTP/1.1 200 OK\r\nx: ${"x".repeat(100_000)}\r\n\r\n{}`],
    ["switches protocols", "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"],
    ["has another protocol", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["is empty", ""],
  ])("that %s causes a value or a readable error", async (_, raw) => {
    await settledAll(await rawService(), { raw });
  });

  test("with stray bytes after it does not affect the next reply", async () => {
    const parts = await rawService();
    const stray = JSON.stringify({ ...good, id: "ep_stray" });
    const behind = `HTTP/1.1 200 OK\r\ncontent-length: ${stray.length}\r\n\r\n${stray}`;
    parts.answers(({ method }) =>
      method === "DELETE" ? { status: 204, behind } : { body: JSON.stringify(good) },
    );
    for (let i = 0; i < 20; i++) {
      await settled(parts, () => parts.api.delete(id));
      expect(await settled(parts, () => parts.api.get(id))).toMatchObject({ value: { id } });
    }
  });
});

describe("an id in the reply to a create", () => {
  test("is always stored with the sent inputs, whatever the other fields are", async () => {
    const parts = await rawService();
    const status = fc.constantFrom(200, 201, 202);
    const property = fc.asyncProperty(hostile.endpointTextAbout, status, async (body, code) => {
      parts.answers({ status: code, body });
      const outcome = await settled(parts, () => create.run(parts));
      expect(outcome).toMatchObject({
        value: { id, outs: { url, type: "cloud", __given: expect.any(Array) } },
      });
      expect(parts.received).toHaveLength(1);
    });
    await fc.assert(property, runs);
  });

  test.each([
    ["an unpaired surrogate", "\ud800"],
    ["two lines", "ep_1\nep_2"],
    ["another path", "../agents"],
    ["the parent of the list", ".."],
  ])("that is %s never causes a request for another path", async (_, strange) => {
    const parts = await rawService();
    parts.answers({ status: 201, body: JSON.stringify({ ...good, id: strange, port: "high" }) });
    await settled(parts, () => create.run(parts));
    parts.answers(either(JSON.stringify({ ...good, id: strange })));
    await settled(parts, () => adoptByUrl.run(parts));
    for (const call of ["get", "delete"] as const) await settled(parts, async () => parts.api[call](strange));
    for (const { path } of parts.received) expect(path).toMatch(/^\/endpoints(\?filter=[^/]*|\/[^/]+)?$/);
  });
});
