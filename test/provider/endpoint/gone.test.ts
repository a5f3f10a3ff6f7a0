import { describe, expect, test } from "vitest";
import type { ScriptedReply } from "../../../sdk/testing";
import { bothProviders, type DrivenProvider, type Options, type Props } from "../bothProviders";
import { thrown } from "../service";
import { isList, url } from "./creates";

const isById = ({ path }: { path: string }) => path.startsWith("/endpoints/");
const isUrl = (name: string) => `https://${name}.example.com`;
const missing = { error_code: "ERR_NGROK_18100", msg: "not found" };
const coded: ScriptedReply = { status: 404, body: missing };
const html: ScriptedReply = { status: 404, body: "<html>nothing here</html>" };

/** The 404s of a gateway in front of the service, or of another server at a wrong base URL. */
const gateways: [string, ScriptedReply][] = [
  ["a page of HTML", html],
  ["JSON without a code", { status: 404, body: { message: "no route" } }],
  ["JSON with a code that is not the service's", { status: 404, body: { error_code: "GW_404", msg: "no" } }],
];

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

interface World {
  provider: DrivenProvider;
  one: Created;
  other: Created;
}

/** What the service and the state show of an endpoint, and what follows. */
interface Story {
  name: string;
  options?: Options;
  /** Whether the endpoint still exists. Default: no. */
  exists?: boolean;
  /** Whether it was created seconds ago. Default: a minute ago. */
  isNew?: boolean;
  /** Whether the state was written with another key or base URL. */
  foreign?: boolean;
  environment?: Record<string, string>;
  arrange?(world: World): unknown;
  /** The error; undefined if the endpoint leaves the state. */
  fails?: RegExp;
  /** The seconds of waiting. */
  waits?: number;
}

const answering =
  (reply: ScriptedReply, times = 9) =>
  ({ provider }: World) =>
    provider.emulator.intercept(isById, reply, times);

const stillListed = /the account's list still contains ep_/;
const wrongAccount =
  /may not be the account of this stack.*none of the \d endpoints.*ENDPOINTS_ACCEPT_ACCOUNT=1/;

const stories: Story[] = [
  { name: "leaves the state after the service's 404 and one page" },
  ...gateways.flatMap(([what, reply]): Story[] => [
    {
      name: `leaves it after a gateway's 404 and the whole list: ${what}`,
      options: { pageSize: 1 },
      arrange: answering(reply),
    },
    {
      name: `stays after a gateway's 404 if the list has it: ${what}`,
      options: { pageSize: 1 },
      exists: true,
      arrange: answering(reply),
      fails: stillListed,
      waits: 5,
    },
  ]),
  {
    name: "stays after the service's 404 if the list has it",
    exists: true,
    arrange: answering(coded),
    fails: stillListed,
    waits: 5,
  },
  {
    name: "stays if its item in the list cannot be read",
    exists: true,
    arrange: (world) => {
      const { id } = world.one;
      const body = { endpoints: [{ id, url, port: "high" }], next_page_uri: null };
      world.provider.emulator.intercept(isList, { status: 200, body }, 9);
      answering(coded)(world);
    },
    fails: stillListed,
    waits: 5,
  },
  {
    name: "leaves it if the list lags behind its deletion",
    arrange: ({ provider, one }) => {
      const { emulator } = provider;
      const [live] = emulator.endpoints;
      const body = { endpoints: [{ ...live, id: one.id, url }], next_page_uri: null };
      emulator.intercept(isList, { status: 200, body });
      emulator.intercept(isById, coded);
    },
    waits: 5,
  },
  ...[coded, html].map((reply) => ({
    name: `waits if it is new: ${typeof reply.body}`,
    isNew: true,
    arrange: answering(reply),
    waits: 5,
  })),
  { name: "waits if its age is unknown", arrange: ({ one }) => delete one.outs["createdAt"], waits: 5 },
  {
    name: "stays if the list is a 404 too, as with a base URL without its path prefix",
    exists: true,
    arrange: ({ provider }) => provider.emulator.intercept(() => true, coded, 99),
    fails: /list.*cannot be read.*path prefix.*state delete/,
  },
  {
    name: "stays if the key may not list",
    arrange: ({ provider }) => provider.emulator.intercept(isList, { status: 403, body: "" }, 9),
    fails: /pulumi state delete/,
  },
  { name: "stays if the account is another one", foreign: true, fails: wrongAccount },
  {
    name: "leaves it with ENDPOINTS_ACCEPT_ACCOUNT",
    foreign: true,
    environment: { ENDPOINTS_ACCEPT_ACCOUNT: "1" },
  },
  {
    name: "leaves it if another endpoint of the stack and its account is in the list, on any page",
    options: { pageSize: 1 },
    foreign: true,
    arrange: async ({ provider, other }) => {
      for (const name of ["a", "b"]) provider.emulator.seed({ type: "cloud", url: isUrl(name) });
      await provider.diff(other.id, fromAnotherAccount(other).outs, other.inputs);
    },
  },
  {
    name: "stays if only endpoints of the stack from the key's own account are in the list",
    foreign: true,
    arrange: async ({ provider, other }) => {
      await provider.diff(other.id, other.outs, other.inputs);
      await provider.create({ url: isUrl("new") });
    },
    fails: wrongAccount,
  },
  {
    name: "stays if only endpoints that no state has, of the same principal, are in the list",
    foreign: true,
    arrange: ({ provider, one }) => {
      const principal = { id: "usr_1", uri: "" };
      Object.assign(one.outs, { principal });
      provider.emulator.seed({ type: "cloud", url: isUrl("third"), principal });
    },
    fails: wrongAccount,
  },
  {
    name: "stays if the list has itself on a later page, which proves no account",
    options: { pageSize: 1 },
    foreign: true,
    exists: true,
    arrange: answering(coded),
    fails: wrongAccount,
  },
];

describe.each(bothProviders)("with %s", (_, start) => {
  async function create(provider: DrivenProvider, address = url): Promise<Created> {
    const { inputs } = await provider.check({}, { url: address });
    return { inputs, ...(await provider.create(inputs)) };
  }

  /** Two endpoints, the first of them the older one, and a new process of the provider. */
  async function world({ options, isNew, environment = {} }: Partial<Story> = {}): Promise<World> {
    const first = await start(options);
    const [one, other] = [await create(first), await create(first, isUrl("other"))];
    if (!isNew) await first.clock.sleep(60_000);
    return { provider: await first.restart(environment), one, other };
  }

  /** Reads or deletes an endpoint. Returns whether it leaves the state. */
  async function leaves(
    how: string,
    { read, delete: remove }: DrivenProvider,
    one: Created,
  ): Promise<boolean> {
    if (how === "delete") return remove(one.id, one.outs).then(() => true);
    return (await read(one.id, one.outs, one.inputs)).id === "";
  }

  describe.each(["read", "delete"])("an endpoint, by a %s,", (how) => {
    test.each(stories.map((story) => [story.name, story] as const))("%s", async (_, story) => {
      const { exists, foreign, arrange, fails, waits = 0 } = story;
      const all = await world(story);
      const { provider, one } = all;
      const { emulator, clock } = provider;
      if (!exists) emulator.remove(one.id);
      // A read asks the shared list first. It must not find the endpoint there.
      if (how === "read" && !foreign) emulator.intercept(isList, { status: 403, body: "" });
      await arrange?.(all);
      const began = clock.now();
      const subject = foreign ? fromAnotherAccount(one) : one;
      const left = leaves(how, provider, subject);
      if (fails) expect((await thrown(left)).message).toMatch(fails);
      else expect(await left).toBe(true);
      expect(Math.round((clock.now() - began) / 5_000) * 5).toBe(waits);
    });

    test("is found by a second read by id, five seconds later, if a first one lags", async () => {
      const { provider, one } = await world({ isNew: true });
      const { emulator } = provider;
      emulator.intercept(isById, coded);
      if (how === "read") {
        emulator.intercept(isList, { status: 403, body: "" });
        expect(await provider.read(one.id, one.outs, one.inputs)).toMatchObject({
          id: one.id,
          props: { url },
        });
      } else await expect(provider.delete(one.id, one.outs)).rejects.toThrow(/status 404/);
      expect(emulator.endpoints).toHaveLength(2);
    });

    test("stays if the base URL is wrong, and the message says what to check", async () => {
      const { provider, one } = await world();
      provider.emulator.intercept(() => true, html, 99);
      const { message } = await thrown(leaves(how, provider, one));
      expect(message).toMatch(/Check endpoints:baseUrl/);
    });

    test("shares its look at the list with others that are gone", async () => {
      const { provider, one, other } = await world();
      for (const { id } of [one, other]) provider.emulator.remove(id);
      const lists = () => provider.emulator.requests.filter(isList).length;
      const before = lists();
      for (const each of [one, other]) expect(await leaves(how, provider, each)).toBe(true);
      // A read also asks the list first.
      expect(lists() - before).toBeLessThanOrEqual(how === "read" ? 2 : 1);
    });
  });

  /** Successful replies to a DELETE that do not come from the service, but from a proxy. */
  test.each<[string, ScriptedReply]>([
    ["a page of HTML", { status: 200, body: "<html>" }],
    ["a 202", { status: 202, body: {} }],
  ])(
    "a delete with a reply other than the service's 204 succeeds only if the endpoint is gone: %s",
    async (_, reply) => {
      const { provider, one, other } = await world();
      const { emulator } = provider;
      emulator.intercept("delete", reply);
      await expect(provider.delete(one.id, one.outs)).rejects.toThrow("a deletion must be answered with 204");
      expect(emulator.endpoints).toHaveLength(2);
      emulator.intercept("delete", { ...reply, afterCommit: true } as ScriptedReply);
      await provider.delete(other.id, other.outs);
      expect(emulator.endpoints.map(({ id }) => id)).toEqual([one.id]);
    },
  );

  test("another account is no change; an update stores the new fingerprint, and a read keeps the old one", async () => {
    const { provider, one } = await world();
    const moved = fromAnotherAccount(one);
    const { props = {}, inputs = {} } = await provider.read(moved.id, moved.outs, moved.inputs);
    expect(props["__account"]).toBe("0123456789abcdef");
    expect(await provider.diff(moved.id, props, inputs)).toMatchObject({ changes: false });
    const { outs } = await provider.update(moved.id, props, { ...inputs, description: "x" });
    expect(outs["__account"]).toBe(one.outs["__account"]);
  });

  test.each(["read", "update"])("a %s fails if the reply describes another endpoint", async (how) => {
    const { provider, one, other } = await world();
    const theirs = provider.emulator.endpoints.find(({ id }) => id === other.id) ?? {};
    provider.emulator.intercept(isList, { status: 403, body: "" });
    provider.emulator.intercept(isById, { status: 200, body: theirs }, 2);
    const work =
      how === "read"
        ? provider.read(one.id, one.outs, one.inputs)
        : provider.update(one.id, one.outs, { ...one.inputs, description: "x" });
    await expect(work).rejects.toThrow(/the reply is about another endpoint/);
  });
});
