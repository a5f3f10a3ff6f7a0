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

describe("a text of 1 MB", () => {
  test.each(Object.keys(good))("in the field %s causes only short messages", async (name) => {
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
  ])("as a failure's %s is shortened in the message", async (_, failure) => {
    const outcomes = await settledAll(await rawService(), { status: 400, body: JSON.stringify(failure) });
    expect(outcomes.some((outcome) => "error" in outcome)).toBe(true);
  });
});

describe("a text that is hard to parse", () => {
  test("takes linear time as a failure's message", async () => {
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

  test("does not fail an adoption as a policy of 90,000 keys", async () => {
    const parts = await rawService();
    const policy = Array.from({ length: 90_000 }, (_, index) => `${index}: 1`).join("\n");
    parts.answers(either(body({ traffic_policy: policy })));
    expect(await settled(parts, () => adoptById.run(parts))).toHaveProperty("value");
  });

  test("takes little more time than another one as a reply of millions of levels", async () => {
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

  test("causes no unexpected error as a policy of 10 MB", async () => {
    const policy = JSON.stringify({ a: "x".repeat(10 * MB) });
    const parts = await rawService();
    parts.answers(either(body({ traffic_policy: policy })));
    await settled(parts, () => create.run(parts));
    await settled(parts, () => adoptByUrl.run(parts));
  });
});

describe("no unexpected error comes from 10,000 levels", () => {
  const deep = {
    lists: `${"[".repeat(10_000)}${"]".repeat(10_000)}`,
    objects: `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`,
    "lists that are never closed": "[".repeat(10_000),
  };
  const cases = Object.entries(deep);

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
    for (const status of [200, 400]) {
      parts.answers(() => ({ status, body: repeated(chunk, 800) }));
      for (const run of [() => parts.api.get(id), () => parts.api.delete(id), () => parts.api.create({})])
        expect(await growth(() => settled(parts, run))).toBeLessThan(100 * MB);
    }
  });

  test("with 20,000 invalid items causes only a few messages", async () => {
    const parts = await rawService();
    parts.answers({ body: `{"endpoints":[${"1,".repeat(19_999)}1]}` });
    await settled(parts, () => adoptByUrl.run(parts));
  });

  test("that never ends fails after the timeout", async () => {
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

/** The most memory outside of the heap that the work took, in bytes. */
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
