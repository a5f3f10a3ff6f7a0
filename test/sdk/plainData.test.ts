import { runInNewContext } from "node:vm";
import * as pulumi from "@pulumi/pulumi";
import { beforeAll, describe, expect, test } from "vitest";
import { checkInputs } from "../../provider/endpoint/inputs";
import { CloudEndpoint } from "../../sdk";
import { plainData } from "../../sdk/plainData";
import { mockEngine, resolved } from "./program";

const url = "https://shop.example.com";

class Money {
  constructor(readonly amount: number) {}
  toJSON() {
    return `${this.amount} €`;
  }
}
class Hidden {
  readonly #amount = 1;
  get amount() {
    return this.#amount;
  }
}
class Größe {
  toJSON = () => 1;
}
class Rule {
  readonly [Symbol.toStringTag] = "Rule";
  readonly name = "by address";
  readonly parts = [{ limit: 1 }];
}
const circle: { self?: unknown } = {};
circle.self = { circle };

/** The reasons with which a check refuses these metadata or this policy. */
async function reasonsFor(given: object): Promise<string[]> {
  const plain = Object.entries(given).map(([name, value]) => [name, plainData(value)]);
  const inputs = await resolved(pulumi.output(Object.fromEntries(plain)));
  return checkInputs({ url, ...(inputs as object) }).failures.map(({ reason }) => reason);
}

const NO_DATA = "which is no plain data; write it as text, numbers, lists and plain objects";
const UTF8 = 'which is bytes; read it with utf8, as in readFileSync(file, "utf8")';

describe("a value that is no data", () => {
  // biome-ignore format: one line for each value
  test.each<[value: unknown, what: string]>([
    [Buffer.from("on_http_request: []"), `a Buffer, ${UTF8}`],
    [new Uint8Array(2), `a Uint8Array, ${UTF8}`],
    [new Float64Array(2), `a Float64Array, ${UTF8}`],
    [new ArrayBuffer(2), `an ArrayBuffer, ${UTF8}`],
    [new Date(), `a Date, ${NO_DATA}`],
    [new Map([["a", 1]]), `a Map, ${NO_DATA}`],
    [new Set(["a"]), `a Set, ${NO_DATA}`],
    [/a/, `a RegExp, ${NO_DATA}`],
    [new TypeError("a"), `an Error, ${NO_DATA}`],
    [new URL(url), `a URL, ${NO_DATA}`],
    [new URLSearchParams("a=1"), `a URLSearchParams, ${NO_DATA}`],
    [1n, `a bigint, ${NO_DATA}`],
    [() => 1, `a function, ${NO_DATA}`],
    [class {}, `a function, ${NO_DATA}`],
    [Symbol("a"), `a symbol, ${NO_DATA}`],
    [new String("a"), `a String, ${NO_DATA}`],
    [new pulumi.asset.StringAsset("a"), `a resource or asset, ${NO_DATA}`],
    [new pulumi.asset.AssetArchive({}), `a resource or asset, ${NO_DATA}`],
    [new Money(1), `a Money, ${NO_DATA}`],
    [new Größe(), `a Gr__e, ${NO_DATA}`],
    [{ a: 1, toJSON: () => 2 }, `an object with toJSON, ${NO_DATA}`],
    [new Hidden(), `a Hidden, ${NO_DATA}`],
    [runInNewContext("new Date()"), `a Date, ${NO_DATA}`],
  ])("%s is refused with its place, wherever a program has it", async (value, what) => {
    const inside = pulumi.output(1);
    const metadata = {
      list: [[value]],
      promise: Promise.resolve({ value }),
      output: inside.apply(() => ({ value })),
      secret: pulumi.secret(inside).apply(() => Promise.resolve([value])),
    };
    expect((await reasonsFor({ metadata })).sort()).toEqual([
      `metadata contains at list[0][0] ${what}`,
      `metadata contains at output.value ${what}`,
      `metadata contains at promise.value ${what}`,
      `metadata contains at secret[0] ${what}`,
    ]);
    const whole = await reasonsFor({ metadata: value, trafficPolicy: inside.apply(() => value) });
    expect(whole).toEqual([`metadata contains ${what}`, `trafficPolicy contains ${what}`]);
  });

  test("that contains itself is refused, too", async () => {
    const [reason] = await reasonsFor({ metadata: { circle } });
    expect(reason).toBe(`metadata contains at circle.self.circle an object that contains itself, ${NO_DATA}`);
  });
});

test.each([
  ["20,000 levels", JSON.parse(`${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`)],
  ["a circle", { circle, other: circle }],
])("a document of %s is refused in a sentence by each check", async (_, deep) => {
  const problem = "is nested more than 200 levels deep";
  for (const field of ["metadata", "trafficPolicy"])
    expect(checkInputs({ url, [field]: deep }).failures.map(({ reason }) => reason)).toEqual([
      `${field} ${problem}`,
    ]);
  const reasons = (await reasonsFor({ metadata: deep })).join("\n");
  expect(reasons).toMatch(/nested more than 200 levels|contains itself/);
});

test("what pulumi.output has made of a Buffer is no policy, and a policy with one phase by number is none", async () => {
  const flattened = pulumi.output(Buffer.from("on_http_request: []"));
  expect(await reasonsFor({ trafficPolicy: flattened })).toEqual([
    "trafficPolicy has only numbers for phases, as the bytes of a file have; read the file as text, with utf8",
  ]);
  expect(await reasonsFor({ trafficPolicy: {}, metadata: { 1: "a" } })).toEqual([]);
});

test("data passes unchanged, also in instances of classes, shared parts, and objects without a prototype", async () => {
  const shared = { a: 1 };
  const bare = Object.assign(Object.create(null), { b: null });
  const module = Object.assign(Object.create(null), { [Symbol.toStringTag]: "Module", c: 1 });
  const data = {
    rule: new Rule(),
    all: [shared, shared, undefined, true, "[object Date] as text"],
    bare,
    module,
  };
  expect(await resolved(pulumi.output(plainData(data)))).toEqual({
    rule: { name: "by address", parts: [{ limit: 1 }] },
    all: [shared, shared, undefined, true, "[object Date] as text"],
    bare: { b: null },
    module: { c: 1 },
  });
  expect(await reasonsFor({ metadata: data })).toEqual([]);
});

describe("the documents that a CloudEndpoint registers", () => {
  let registered: Record<string, unknown> = {};
  beforeAll(() => mockEngine(({ inputs }) => (registered = inputs)));
  const policy = { on_http_request: [{ name: "first" }] };

  // biome-ignore format: one line for each pair of documents
  test.each<[string, args: object, trafficPolicy: unknown, metadata?: unknown]>([
    ["are data if they are text, so that ignoreChanges finds their parts", { trafficPolicy: "on_http_request: [{ name: first }]", metadata: '{"a":[1]}' }, policy, { a: [1] }],
    ["are data if they are text of an output or a promise", { trafficPolicy: pulumi.output(JSON.stringify(policy)), metadata: Promise.resolve("[1]") }, policy, [1]],
    ["are the text if the check refuses it", { trafficPolicy: "a: .nan", metadata: "{ of the team" }, "a: .nan", "{ of the team"],
    ["have a text in place of what is no data", { trafficPolicy: Buffer.from("a: []"), metadata: { at: new Date() } }, "[object Buffer]", { at: "[object Date]" }],
  ])("%s", async (_, args, trafficPolicy, metadata) => {
    await resolved(new CloudEndpoint("shop", { url, ...args }).id);
    expect(registered).toMatchObject({ trafficPolicy, metadata });
  });
});
