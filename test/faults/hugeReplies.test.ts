import { describe, expect, test } from "vitest";
import { expectLinear, expectTimes } from "../growth";
import { CANARY_KEY } from "../provider/service";
import { adoptById, adoptByUrl, create, either, settledAll } from "./calls";
import { good, id } from "./hostile";
import { settled } from "./invariants";
import { rawService } from "./rawService";

const MB = 1024 * 1024;
const long = "x".repeat(MB);
const body = (change: object) => JSON.stringify({ ...good, ...change });

describe("a text of a megabyte", () => {
  test.each(Object.keys(good))("as %s is no error that fills the screen", async (name) => {
    const parts = await rawService();
    await settledAll(parts, either(body({ [name]: long })));
    await settledAll(parts, either(body({ [name]: long, port: "high" })));
  });

  test.each([
    ["msg", { error_code: "ERR_NGROK_18009", msg: long }],
    ["error_code", { error_code: long }],
    ["error_code with a number at its end", { error_code: `${"_1".repeat(MB / 2)}x` }],
    ["operation_id", { msg: "no", details: { operation_id: long } }],
    ["msg with the key in it", { msg: `${CANARY_KEY} `.repeat(1000) }],
    ["msg of lines", { msg: "a\n".repeat(MB / 2) }],
  ])("as a failure's %s is cut", async (_, failure) => {
    const outcomes = await settledAll(await rawService(), { status: 400, body: JSON.stringify(failure) });
    expect(outcomes.some((outcome) => "error" in outcome)).toBe(true);
  });
});

describe("a text that is hard to read", () => {
  test("takes time in proportion to its length as a failure's message", async () => {
    const parts = await rawService();
    await expectLinear(
      (size) => `a${" ".repeat(size)}b`,
      (msg) => {
        parts.answers({ status: 400, body: JSON.stringify({ msg }) });
        return settled(parts, () => parts.api.get(id));
      },
      50_000,
    );
  });

  test("is no failure of its own as a policy of 90,000 keys", async () => {
    const parts = await rawService();
    const policy = Array.from({ length: 90_000 }, (_, index) => `${index}: 1`).join("\n");
    parts.answers(either(body({ traffic_policy: policy })));
    expect(await settled(parts, () => adoptById.run(parts))).toHaveProperty("value");
  });

  test("takes no longer than another one as a reply of millions of levels", async () => {
    const parts = await rawService();
    const size = 4 * MB;
    await expectTimes(
      10,
      JSON.stringify("x".repeat(size)),
      "[".repeat(size / 2) + "]".repeat(size / 2),
      (text) => {
        parts.answers({ body: text });
        return settled(parts, () => parts.api.get(id));
      },
    );
  });

  test("is no failure of its own as a policy of ten megabytes", async () => {
    const policy = JSON.stringify({ a: "x".repeat(10 * MB) });
    const parts = await rawService();
    parts.answers(either(body({ traffic_policy: policy })));
    await settled(parts, () => create.run(parts));
    await settled(parts, () => adoptByUrl.run(parts));
  });
});

describe("10,000 levels", () => {
  const deep = {
    lists: `${"[".repeat(10_000)}${"]".repeat(10_000)}`,
    objects: `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`,
    "lists that are never closed": "[".repeat(10_000),
  };
  const cases = Object.entries(deep);

  test.each(cases)("of %s as the reply", async (_, text) => {
    await settledAll(await rawService(), { body: text });
    await settledAll(await rawService(), { status: 400, body: text });
  });

  test.each(cases)("of %s in fields of a reply", async (_, text) => {
    const parts = await rawService();
    for (const name of ["traffic_policy", "bindings", "principal", "unheard_of", "id"]) {
      await settledAll(parts, either(`${body({}).slice(0, -1)},${JSON.stringify(name)}:${text}}`));
    }
    await settledAll(parts, { body: `{"endpoints":[${body({})},${text}]}` });
    await settledAll(parts, { status: 400, body: `{"error_code":"ERR_NGROK_1","msg":${text}}` });
  });
});

describe("a body", () => {
  test("of 50 MB is not kept in memory", async () => {
    const chunk = Buffer.alloc(64 * 1024, "x");
    const parts = await rawService();
    parts.answers(() => ({ body: repeated(chunk, 800) }));
    for (const run of [() => parts.api.get(id), () => parts.api.delete(id), () => parts.api.create({})]) {
      const most = await growth(() => settled(parts, run));
      expect(most).toBeLessThan(100 * MB);
    }
  });

  test("of 50 MB is not kept in memory as a failure either", async () => {
    const parts = await rawService();
    parts.answers(() => ({ status: 400, body: repeated(Buffer.alloc(64 * 1024, "x"), 800) }));
    expect(await growth(() => settled(parts, () => parts.api.get(id)))).toBeLessThan(100 * MB);
  });

  test("with 20,000 items that are none fills no screen", async () => {
    const parts = await rawService();
    parts.answers({ body: `{"endpoints":[${"1,".repeat(19_999)}1]}` });
    await settled(parts, () => adoptByUrl.run(parts));
  });

  test("that trickles without an end is given up", async () => {
    const parts = await rawService({ "endpoints:timeoutSeconds": "1", "endpoints:retryForSeconds": "1" });
    parts.answers(() => ({ body: trickle() }));
    const outcome = await settled(parts, () => parts.api.create({}));
    expect(outcome).toMatchObject({ error: { name: "ConnectionError" } });
  });
});

function* repeated(chunk: Buffer, times: number) {
  for (let i = 0; i < times; i++) yield chunk;
}

async function* trickle() {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    yield Buffer.from(" ");
  }
}

/** How much memory outside of the heap was taken at most while something went on. */
async function growth(work: () => Promise<unknown>): Promise<number> {
  const taken = () => process.memoryUsage().external;
  const before = taken();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, taken());
  }, 2);
  await work().finally(() => clearInterval(timer));
  return Math.max(most, taken()) - before;
}
