import { describe, expect, test } from "vitest";
import type { Emulator, RecordedRequest, ScriptedReply } from "../../../sdk/testing";
import { bothProviders, type DrivenProvider } from "../bothProviders";
import { service, thrown } from "../service";

const url = "https://shop.example.com";
const isList = ({ method, path }: RecordedRequest) => method === "GET" && path === "/endpoints";
const isById = ({ path }: RecordedRequest) => path.startsWith("/endpoints/");
const lists = (emulator: Emulator) => emulator.requests.filter(isList).length;

type Props = Record<string, unknown>;
interface Created {
  id: string;
  outs: Props;
  inputs: Props;
}

/** The same endpoint in a state that was written with another key or another base URL. */
const fromAnotherAccount = (one: Created): Created => ({
  ...one,
  outs: { ...one.outs, __account: "0123456789abcdef" },
});

/** Reads or deletes an endpoint. Returns whether it leaves the state. */
async function leavesState(
  how: string,
  { read, remove }: { read(one: Created): Promise<{ id: string }>; remove(one: Created): Promise<void> },
  one: Created,
): Promise<boolean> {
  if (how === "delete") return remove(one).then(() => true);
  return (await read(one)).id === "";
}

/** The 404s of a gateway in front of the service, or of another server at a wrong base URL. */
const gateways: [string, ScriptedReply][] = [
  ["a page of HTML", { status: 404, body: "<html>nothing here</html>" }],
  ["JSON without a code", { status: 404, body: { message: "no route" } }],
  [
    "JSON with a code that is not the service's",
    { status: 404, body: { error_code: "GW_404", msg: "no route" } },
  ],
];

/** Creates two endpoints, and starts a new process of the core, which does not know them. */
async function twoEndpoints(options: Parameters<typeof service>[0] = {}) {
  const { core: first, newProcess, emulator, ...rest } = await service(options);
  const create = async (address: string): Promise<Created> => {
    const inputs = { url: address };
    return { inputs, ...(await first.create(inputs)) };
  };
  const [one, other] = [await create(url), await create("https://other.example.com")];
  await rest.clock.sleep(60_000);
  const { core } = newProcess();
  const calls = {
    read: ({ id, outs }: Created) => core.read(id, outs),
    remove: ({ id, outs }: Created) => core.delete(id, outs),
  };
  return { ...rest, core, newProcess, emulator, one, other, calls };
}

/** Successful replies to a DELETE that do not come from the service, but from a proxy. */
const proxySuccesses: [string, ScriptedReply][] = [
  ["a page of HTML", { status: 200, body: "<html>" }],
  ["a 202", { status: 202, body: {} }],
];

describe("a delete whose reply is not the service's 204", () => {
  test.each(proxySuccesses)("fails if the endpoint still exists: %s", async (_, reply) => {
    const { emulator, one, calls } = await twoEndpoints();
    emulator.intercept(({ method }) => method === "DELETE", reply);
    await expect(calls.remove(one)).rejects.toThrow("a deletion must be answered with 204");
    expect(emulator.endpoints).toHaveLength(2);
    await calls.remove(one);
    expect(emulator.endpoints).toHaveLength(1);
  });

  test.each(proxySuccesses)("succeeds if the endpoint is gone: %s", async (_, reply) => {
    const { emulator, one, calls } = await twoEndpoints();
    emulator.intercept(({ method }) => method === "DELETE", { ...reply, lateMs: 0 } as ScriptedReply);
    await calls.remove(one);
    expect(emulator.endpoints).toHaveLength(1);
  });
});

describe.each(["read", "delete"])("a %s", (how) => {
  test.each(gateways)("fails after a gateway's 404 if the list has the endpoint: %s", async (_, reply) => {
    const { emulator, one, calls } = await twoEndpoints();
    emulator.intercept(isById, reply, 9);
    // A read asks the shared list first. It must not find the endpoint there.
    if (how === "read") emulator.intercept(isList, { status: 403, body: "" });
    await expect(leavesState(how, calls, one)).rejects.toThrow(/account's list still contains ep_/);
    expect(emulator.endpoints).toHaveLength(2);
  });

  test("fails if the endpoint is on a later page of a list that is not sorted by creation time", async () => {
    const { core, emulator, one, calls } = await twoEndpoints({ pageSize: 3 });
    // They come first in the list, but have the earliest creation times.
    emulator.behave({ createdAt: -3_600_000 });
    for (const name of ["a", "b", "c"]) await core.create({ url: `https://${name}.example.com` });
    emulator.intercept(isById, { status: 404, body: "<html>nothing here</html>" }, 9);
    await expect(leavesState(how, calls, one)).rejects.toThrow(/account's list still contains ep_/);
  });

  test.each(gateways)(
    "accepts a gateway's 404 if no page of the list has the endpoint: %s",
    async (_, reply) => {
      const { emulator, one, calls } = await twoEndpoints({ pageSize: 1 });
      emulator.remove(one.id);
      emulator.intercept(isById, reply, 9);
      expect(await leavesState(how, calls, one)).toBe(true);
    },
  );

  const maybeNew = [
    ["another process has just created the endpoint", {}],
    ["the service's clock is unknown", { date: null }],
    ["the endpoint's age is unknown", { createdAt: null }],
  ] as const;

  test.each(maybeNew)("after a gateway's 404 waits for a lagging list if %s", async (_, behaviour) => {
    const { core: first, newProcess, emulator } = await service({ listLag: 4_000, ...behaviour });
    const { id, outs } = await first.create({ url });
    const { core } = newProcess();
    emulator.intercept(isById, { status: 404, body: "<html>" }, 9);
    // A read asks the shared list first. It must not find the endpoint there.
    if (how === "read") emulator.intercept(isList, { status: 403, body: "" });
    const calls = { read: () => core.read(id, outs), remove: () => core.delete(id, outs) };
    await expect(leavesState(how, calls, { id, outs, inputs: {} })).rejects.toThrow(/still contains/);
  });

  test.each(maybeNew)("after the service's 404 waits for a lagging list if %s", async (_, behaviour) => {
    const { core, newProcess, emulator } = await service({ ...behaviour });
    const { id, outs } = await core.create({ url });
    emulator.intercept(isById, { status: 404, body: { error_code: "ERR_NGROK_18100", msg: "no" } });
    emulator.behave({ listLag: 3_000 });
    const later = newProcess().core;
    const dropping = how === "delete" ? later.delete(id, outs) : later.read(id, { ...outs, type: undefined });
    await expect(dropping).rejects.toThrow(`still contains ${id}`);
  });

  test("reads the list again while it still has the endpoint, and succeeds when it no longer has it", async () => {
    const { emulator, one, calls, waits } = await twoEndpoints();
    const shown = emulator.endpoints;
    emulator.remove(one.id);
    // A read asks the shared list first. It must not find the endpoint there.
    if (how === "read") emulator.intercept(isList, { status: 403, body: "" });
    emulator.intercept(isList, { status: 200, body: { endpoints: shown, next_page_uri: null } }, 2);
    expect(await leavesState(how, calls, one)).toBe(true);
    expect(waits.slice(-2)).toEqual([1_000, 4_000]);
  });

  test("fails with the advice to run `pulumi state delete` if the key may not list", async () => {
    const { emulator, one, calls } = await twoEndpoints();
    emulator.remove(one.id);
    emulator.intercept(isList, { status: 403, body: "" }, 9);
    await expect(leavesState(how, calls, one)).rejects.toThrow(/pulumi state delete/);
  });
});

describe.each(bothProviders)("with %s", (_, start) => {
  /** Reads or deletes an endpoint. Returns whether it leaves the state. */
  const leaves = (how: string, provider: DrivenProvider, one: Created) =>
    leavesState(
      how,
      {
        read: ({ id, outs, inputs }) => provider.read(id, outs, inputs),
        remove: ({ id, outs }) => provider.delete(id, outs),
      },
      one,
    );

  /** The endpoint is a minute old. So the service's 404 needs no wait for the list. */
  async function create(provider: DrivenProvider, address = url): Promise<Created> {
    provider.emulator.behave({ createdAt: -60_000 });
    const { inputs } = await provider.check({}, { url: address });
    return { inputs, ...(await provider.create(inputs)) };
  }

  async function twoCreated(): Promise<{ provider: DrivenProvider; one: Created; other: Created }> {
    const first = await start();
    const [one, other] = [await create(first), await create(first, "https://other.example.com")];
    return { provider: await first.restart(), one, other };
  }

  describe.each(["read", "delete"])("a %s", (how) => {
    test("accepts the service's 404 after one look at the list, which all resources of a run share", async () => {
      const { provider, one, other } = await twoCreated();
      for (const { id } of [one, other]) provider.emulator.remove(id);
      const before = lists(provider.emulator);
      expect(await leaves(how, provider, one)).toBe(true);
      expect(await leaves(how, provider, other)).toBe(true);
      // A read also asks the list first.
      expect(lists(provider.emulator) - before).toBeLessThanOrEqual(how === "read" ? 2 : 1);
    });

    test("fails if the list is a 404 too, as with a base URL without its path prefix", async () => {
      const { provider, one } = await twoCreated();
      const missing = { status: 404, body: { error_code: "ERR_NGROK_4042", msg: "no such route" } };
      provider.emulator.intercept(() => true, missing, 99);
      await expect(leaves(how, provider, one)).rejects.toThrow(
        /list.*cannot be read.*path prefix.*state delete/,
      );
      expect(provider.emulator.endpoints).toHaveLength(2);
    });

    test("fails for another account, and succeeds with ENDPOINTS_ACCEPT_ACCOUNT=1", async () => {
      const { provider, one } = await twoCreated();
      provider.emulator.remove(one.id);
      const { message } = await thrown(leaves(how, provider, fromAnotherAccount(one)));
      expect(message).toMatch(
        /may not be the account of this stack.*none of the 1 endpoints.*ENDPOINTS_ACCEPT_ACCOUNT=1/,
      );
      const accepting = await provider.restart({ ENDPOINTS_ACCEPT_ACCOUNT: "1" });
      expect(await leaves(how, accepting, fromAnotherAccount(one))).toBe(true);
    });

    test("explains once that the account may be another one, and repeats it for the same endpoint only", async () => {
      const { provider, one, other } = await twoCreated();
      for (const { id } of [one, other]) provider.emulator.remove(id);
      const messages = [];
      for (const each of [one, other, one])
        messages.push((await thrown(leaves(how, provider, fromAnotherAccount(each)))).message);
      const [first, second, again] = messages;
      expect(first).toContain("may not be the account of this stack");
      expect(second).toMatch(
        new RegExp(`does not have ${other.id} either: see the message about ${one.id}\\.$`),
      );
      expect(again).toBe(first);
    });

    test("does not take the endpoint itself, on a later page of the list, as proof of the account", async () => {
      const { provider, one } = await twoCreated();
      provider.emulator.behave({ pageSize: 1 });
      const body = { error_code: "ERR_NGROK_18099", msg: "not found" };
      provider.emulator.intercept(({ path }) => path === `/endpoints/${one.id}`, { status: 404, body }, 9);
      await expect(leaves(how, provider, fromAnotherAccount(one))).rejects.toThrow(
        /may not be the account of this stack/,
      );
    });

    test("accepts another key if the account has another endpoint of this stack", async () => {
      const { provider, one, other } = await twoCreated();
      provider.emulator.remove(one.id);
      await provider.diff(other.id, fromAnotherAccount(other).outs, other.inputs);
      expect(await leaves(how, provider, fromAnotherAccount(one))).toBe(true);
    });

    test("accepts another key if the account has an endpoint of the same principal", async () => {
      const { provider, one } = await twoCreated();
      provider.emulator.remove(one.id);
      const principal = { id: "usr_1", uri: "" };
      provider.emulator.seed({ type: "cloud", url: "https://third.example.com", principal });
      const theirs = fromAnotherAccount({ ...one, outs: { ...one.outs, principal } });
      expect(await leaves(how, provider, theirs)).toBe(true);
    });

    test("accepts another key after the service deleted another endpoint of this stack", async () => {
      const { provider, one, other } = await twoCreated();
      provider.emulator.remove(one.id);
      await provider.delete(other.id, fromAnotherAccount(other).outs);
      expect(await leaves(how, provider, fromAnotherAccount(one))).toBe(true);
    });

    test.each(["creates", "reads", "deletes"])(
      "fails for another account even if the run %s an endpoint there",
      async (does) => {
        const { provider: first, one } = await twoCreated();
        first.emulator.remove(one.id);
        const there = await create(first, "https://created-there.example.com");
        const provider = does === "creates" ? first : await first.restart();
        if (does !== "creates") await leaves(does === "reads" ? "read" : "delete", provider, there);
        await expect(leaves(how, provider, fromAnotherAccount(one))).rejects.toThrow(
          /may not be the account of this stack/,
        );
      },
    );

    test("accepts only the key that wrote the state if the account has no other endpoint", async () => {
      const first = await start();
      const one = await create(first);
      const provider = await first.restart();
      provider.emulator.remove(one.id);
      await expect(leaves(how, provider, fromAnotherAccount(one))).rejects.toThrow(/none of the 0 endpoints/);
      expect(await leaves(how, provider, one)).toBe(true);
    });
  });

  test("another account is no change; an update stores the new fingerprint, and a read keeps the old one", async () => {
    const { provider, one } = await twoCreated();
    const moved = fromAnotherAccount(one);
    const { props = {}, inputs = {} } = await provider.read(moved.id, moved.outs, moved.inputs);
    expect(props["__account"]).toBe("0123456789abcdef");
    expect(await provider.diff(moved.id, props, inputs)).toMatchObject({ changes: false });
    const { outs } = await provider.update(moved.id, props, { ...inputs, description: "x" });
    expect(outs["__account"]).toBe(one.outs["__account"]);
  });

  test.each(["read", "update"])("a %s fails if the reply describes another endpoint", async (how) => {
    const { provider, one, other } = await twoCreated();
    const theirs = provider.emulator.endpoints.find(({ id }) => id === other.id) ?? {};
    provider.emulator.intercept(isList, { status: 403, body: "" });
    provider.emulator.intercept(isById, { status: 200, body: theirs });
    const work =
      how === "read"
        ? provider.read(one.id, one.outs, one.inputs)
        : provider.update(one.id, one.outs, { ...one.inputs, description: "x" });
    await expect(work).rejects.toThrow(/the reply is about another endpoint/);
  });
});
