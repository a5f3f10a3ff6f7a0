import { describe, expect, test } from "vitest";
import type { Inputs } from "../../../provider/endpoint/fields";
import { rival, rivalsOn } from "../../faults/serviceFaults";
import { type service, thrown } from "../service";
import { conflict, countCreates, isCreate, isList, iso, marked, marking, start, URN, url } from "./creates";

const policy = { on_http_request: [{ actions: [{ type: "deny" }] }] };
const news = { url, description: "x", __urn: URN };
const equal = { type: "cloud" as const, url, description: "x" };
const marks = { "endpoints:mark": marking };

/** A create that takes effect and whose reply is lost, and one without effect. */
const lost = { afterCommit: true, reset: true } as const;
const vain = { reset: true } as const;

type Parts = Awaited<ReturnType<typeof start>>;

describe("a lost create finds the new endpoint", () => {
  test.each<[string, object]>([
    ["a reset connection", { reset: true }],
    ["no reply in time", { hang: true }],
    ["a body that ends early", { cut: "end" }],
    ["a body that is reset", { cut: "reset" }],
    ["a body that stalls", { cut: "stall" }],
    ["an empty body", { body: "" }],
    ["an HTML page", { status: 200, body: "<html>" }],
    ["a proxy's 502", { status: 502, body: "<html>" }],
    ["the service's 500", { status: 500, body: { error_code: "ERR_NGROK_20000", msg: "x" } }],
    ["a proxy's 429", { status: 429, body: "<html>" }],
    ["a 408", { status: 408, body: "" }],
    ["a reply without an id", { status: 201, body: { url } }],
    ["a reply with another URL", { status: 201, body: { id: "ep_other", type: "cloud", url: `${url}:1` } }],
    ["a reply with another type", { status: 201, body: { id: "ep_other", type: "ephemeral", url } }],
  ])("at once, with a warning: %s", async (_, fault) => {
    const { core, emulator, logged, waits } = await start();
    emulator.intercept(isCreate, { afterCommit: true, ...fault });
    const { id, outs } = await core.create({ url, trafficPolicy: policy, description: "x" });
    expect(emulator.endpoints.map((endpoint) => endpoint.id)).toEqual([id]);
    expect(outs).toMatchObject({ url, trafficPolicy: JSON.stringify(policy) });
    expect([countCreates(emulator.requests), waits]).toEqual([1, [0]]);
    expect(logged).toEqual([
      `${url}: after a lost answer, this run continues with ${id}. It has created it, or another run has, with the same content within two seconds: check that no other stack has this id. endpoints:mark removes the doubt`,
    ]);
  });
});

/** What has happened to a lost create, and what the provider does. */
interface Story {
  name: string;
  settings?: Record<string, string>;
  options?: Parameters<typeof service>[0];
  inputs?: Partial<Inputs>;
  arrange(parts: Parts): unknown;
  /** The error; undefined if the new endpoint is found. It names every endpoint on the URL. */
  fails?: RegExp;
  /** The creates that are sent. Default: 1. */
  creates?: number;
  /** The endpoints in the end. Default: 1. */
  endpoints?: number;
}

/** An equal endpoint that appears during the create, with a time or other fields of its own. */
const appears =
  (fields: (now: number) => object) =>
  ({ emulator, clock }: Parts) => {
    emulator.behave({ urlTaken: "allowed" });
    const before = () =>
      void emulator.seed({ ...equal, created_at: iso(clock.now()), ...fields(clock.now()) });
    emulator.intercept(isCreate, { before, ...vain });
  };

const found: Story[] = [
  {
    name: "finds an endpoint that the list shows late",
    arrange: ({ emulator }) => {
      emulator.intercept(isCreate, lost);
      emulator.intercept(isList, { status: 200, body: { endpoints: [], next_page_uri: null } }, 2);
    },
  },
  {
    name: "finds one from up to two seconds before it",
    arrange: appears((now) => ({ created_at: iso(now - 1_000) })),
  },
  {
    name: "finds one from up to two seconds after it",
    arrange: appears((now) => ({ created_at: iso(now + 1_000) })),
  },
  {
    name: "is sent again if it had no effect",
    arrange: ({ emulator }) => emulator.intercept(isCreate, vain),
    creates: 2,
  },
  {
    name: "finds the endpoint of its second attempt, whose window has both",
    arrange: ({ emulator }) => {
      emulator.intercept(isCreate, vain);
      emulator.intercept(isCreate, lost);
    },
    creates: 2,
  },
  {
    name: "with a mark finds its own beside an equal one",
    settings: marks,
    arrange: ({ emulator }) => {
      emulator.behave({ urlTaken: "allowed" });
      rival(emulator, "after", { fields: { metadata: undefined }, reply: lost });
    },
    endpoints: 2,
  },
  {
    name: "with a mark finds its own in a pool",
    settings: marks,
    inputs: { poolingEnabled: true },
    arrange: ({ emulator }) => {
      emulator.seed({ ...equal, pooling_enabled: true });
      rival(emulator, "before", { fields: { metadata: undefined }, reply: lost });
    },
    endpoints: 3,
  },
  {
    name: "with a mark is sent again to a pool if it had no effect",
    settings: marks,
    inputs: { poolingEnabled: true },
    arrange: ({ emulator }) => {
      emulator.seed({ ...equal, pooling_enabled: true });
      emulator.intercept(isCreate, vain);
    },
    creates: 2,
    endpoints: 2,
  },
  {
    name: "with a mark takes over what an earlier run left on the URL",
    settings: marks,
    arrange: ({ emulator }) => {
      emulator.seed({ ...equal, ...marked({}) });
      emulator.intercept(isCreate, vain);
    },
  },
];

const doubtful = /may have created one of these.*set adopt/;
const taken = /is served by ep_.*set adopt/;
const unknownId = { status: 404, body: { error_code: "ERR_NGROK_18100", msg: "no" } };

const refused: Story[] = [
  ...(["before", "after"] as const).map((when) => ({
    name: `fails if an equal one was created ${when} its own in the same second`,
    arrange: ({ emulator }: Parts) => {
      emulator.behave({ urlTaken: "allowed" });
      rival(emulator, when, { reply: lost });
    },
    fails: doubtful,
    endpoints: 2,
  })),
  {
    name: "fails if the only candidate has no creation time",
    arrange: appears(() => ({ created_at: undefined })),
    fails: doubtful,
  },
  {
    name: "fails if its creation time is invalid",
    arrange: appears(() => ({ created_at: "yesterday" })),
    fails: doubtful,
  },
  {
    name: "fails if the service's clock is unknown",
    options: { date: null },
    arrange: ({ emulator }) => emulator.intercept(isCreate, lost),
    fails: doubtful,
  },
  {
    name: "fails if a read by id does not find what the list shows",
    arrange: ({ emulator }) => {
      emulator.intercept(isCreate, lost);
      emulator.intercept(({ path }) => path.startsWith("/endpoints/"), unknownId, 99);
    },
    fails: doubtful,
  },
  {
    name: "fails if the list shows an endpoint on the URL that cannot be read",
    arrange: ({ emulator }) => {
      emulator.intercept(isCreate, lost);
      const unreadable = { id: "ep_odd", url, type: "cloud", port: "high" };
      emulator.intercept(isList, { status: 200, body: { endpoints: [unreadable] } }, 9);
    },
    fails: /may have created one of these.* ep_odd\. /,
    endpoints: -1,
  },
  {
    name: "fails after a reply that named an id, and is not sent again",
    arrange: ({ emulator }) =>
      emulator.intercept(isCreate, { status: 201, body: { id: "ep_gone", url: `${url}:1` } }),
    fails: /may have created one of these.* ep_gone\. /,
    endpoints: 0,
  },
  {
    name: "in a pool fails if it had no effect, since nobody would notice one more member",
    inputs: { poolingEnabled: true },
    arrange: ({ emulator }) => emulator.intercept(isCreate, vain),
    fails: /another try could add a second endpoint to the pool.*endpoints:mark/,
    endpoints: 0,
  },
  {
    name: "takes no endpoint from before it",
    arrange: appears((now) => ({ created_at: iso(now - 5_000) })),
    fails: taken,
  },
  {
    name: "takes none from long after it",
    arrange: appears((now) => ({ created_at: iso(now + 5_000) })),
    fails: taken,
  },
  { name: "takes none with other content", arrange: appears(() => ({ description: "y" })), fails: taken },
  {
    name: "takes none with a mark, if it has none",
    arrange: appears((now) => ({ metadata: marked({ time: iso(now) }).metadata })),
    fails: taken,
  },
  { name: "with a mark takes none without", settings: marks, arrange: appears(() => ({})), fails: taken },
  {
    name: "takes none that meets its second attempt",
    arrange: ({ emulator }) => {
      emulator.intercept(isCreate, vain);
      const before = () => void emulator.seed({ ...equal, created_at: iso(0) });
      emulator.intercept(isCreate, { before, ...conflict });
    },
    fails: taken,
    creates: 2,
  },
];

test.each([...found, ...refused].map((story) => [story.name, story] as const))(
  "a lost create %s",
  async (_, story) => {
    const { settings, options, inputs, arrange, fails, creates = 1, endpoints = 1 } = story;
    const parts = await start(settings, options);
    const { core, emulator } = parts;
    arrange(parts);
    const create = core.create({ ...news, ...inputs });
    if (fails) {
      const { message } = await thrown(create);
      expect(message).toMatch(fails);
      if (endpoints > 0) for (const { id } of emulator.endpoints) expect(message).toContain(id);
    } else {
      const { id } = await create;
      expect(emulator.endpoints.map((endpoint) => endpoint.id)).toContain(id);
      expect(rivalsOn(emulator)).not.toContain(id);
    }
    expect(countCreates(emulator.requests)).toBe(creates);
    expect(emulator.requests.some(({ method }) => method === "DELETE")).toBe(false);
    if (endpoints >= 0) expect(emulator.endpoints).toHaveLength(endpoints);
  },
);

test("a lost create looks at once, after two and after ten seconds, and reads the whole list only then", async () => {
  const { core, emulator, waits } = await start({}, { pageSize: 1 });
  for (let i = 0; i < 5; i++) emulator.seed({ type: "cloud", url: `https://n${i}.example.com` });
  emulator.intercept(isCreate, vain);
  await core.create(news);
  expect(waits.slice(0, 3)).toEqual([0, 2_000, 8_000]);
  expect(emulator.requests.filter(isList)).toHaveLength(1 + 1 + 5);
});

test.each([
  ["take effect", lost, lost],
  ["are lost, and one takes effect", lost, vain],
])("two equal resources whose creates %s never get the same endpoint", async (_, one, other) => {
  const { core, emulator } = await start();
  emulator.intercept(isCreate, one);
  emulator.intercept(isCreate, other);
  const both = await Promise.allSettled([core.create({ url }), core.create({ url })]);
  expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(String(both.map((each) => "reason" in each && each.reason))).toMatch(/belongs to another resource/);
  expect(emulator.endpoints).toHaveLength(1);
});

test("a lost create with a secret does not quote the description of the endpoint on its URL", async () => {
  const { core, emulator } = await start();
  const { id } = emulator.seed({ type: "cloud", url, description: "CANARY of before" });
  emulator.intercept(isCreate, vain);
  const { message } = await thrown(
    core.create({ ...news, description: "CANARY", __secrets: ["description"] }),
  );
  expect(message).toContain(`is served by ${id}`);
  expect(message).not.toContain("CANARY");
});

test("a lost create fails with both reasons if the list cannot be read", async () => {
  const { core, emulator } = await start({ "endpoints:retryForSeconds": "1" });
  emulator.intercept(isCreate, lost);
  emulator.intercept(isList, { status: 503, body: "" }, 99);
  await expect(core.create({ url })).rejects.toThrow(
    /no answer .*could not find out whether the endpoint exists .*503.*set adopt/,
  );
  expect(countCreates(emulator.requests)).toBe(1);
});

test.each([
  ["lost", vain],
  ["refused", conflict],
])("a create that is %s shows no secret URL if the list cannot be read", async (_, fault) => {
  const { core, emulator } = await start({ "endpoints:retryForSeconds": "1" });
  emulator.intercept(isCreate, fault, 9);
  emulator.intercept(isList, { status: 403, body: "" }, 99);
  const { message } = await thrown(core.create({ url, __secrets: ["url"] }));
  expect(message).toContain("[secret]");
  expect(message).not.toContain(url);
});

test("a lost create is not sent again once `endpoints:retryForSeconds` has passed", async () => {
  const { core, emulator, waits } = await start({ "endpoints:retryForSeconds": "20" });
  emulator.intercept(isCreate, vain, 99);
  await expect(core.create({ url })).rejects.toThrow(/no answer /);
  // The look at the list may take some more seconds, but no create follows it.
  expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeLessThanOrEqual(35_000);
});

test("a lost create finds or names the endpoint if the replies have another clock than the service", async () => {
  for (const date of [-600_000, -3_000, 3_000, 600_000]) {
    const { core, emulator } = await start();
    emulator.behave({ urlTaken: "allowed", date });
    emulator.intercept(isCreate, lost);
    const outcome = await core.create({ url }).catch(({ message }: Error) => ({ id: message }));
    expect(outcome.id).toContain(emulator.endpoints[0]?.id);
    expect(emulator.endpoints).toHaveLength(1);
  }
});

describe("the reply to a create", () => {
  const sent = { ...news, trafficPolicy: policy, metadata: { a: 1 }, poolingEnabled: true };
  const texts = {
    description: "x",
    trafficPolicy: JSON.stringify(policy),
    metadata: '{"a":1}',
    poolingEnabled: true,
  };

  test.each<[string, object]>([
    ["lacks all but id, URL and type", { status: 201 }],
    ["garbles inputs", { description: 5, traffic_policy: [], metadata: true, pooling_enabled: "perhaps" }],
    ["garbles outputs", { created_at: 5, port: "high", principal: 1, hostport: {} }],
  ])("is stored without a further request if it %s", async (_, fields) => {
    const { core, emulator } = await start();
    const body = (real: object) => {
      const { id } = real as { id: string };
      return { id, url, type: "cloud", ...fields };
    };
    emulator.intercept(isCreate, { afterCommit: true, status: 201, body });
    const { id, outs } = await core.create(sent);
    expect(outs).toMatchObject({ ...texts, url, type: "cloud" });
    expect(outs).not.toHaveProperty("createdAt");
    expect(emulator.requests).toHaveLength(1);
    const { props, inputs } = await core.read(id, outs);
    expect([props, inputs]).toMatchObject([{ createdAt: expect.any(String) }, { poolingEnabled: true }]);
    expect(core.diff(id, props, sent)).toMatchObject({ changes: false });
  });

  test.each([{}, marks])("is not ours with the id of another resource of this run: %j", async (settings) => {
    const { core, emulator } = await start(settings);
    const { id: other } = await core.create({ url: "https://other.example.com" });
    emulator.intercept(isCreate, { afterCommit: true, status: 201, body: { id: other, type: "cloud", url } });
    const { id } = await core.create(news);
    expect(emulator.endpoints.map((endpoint) => endpoint.id).sort()).toEqual([id, other].sort());
  });

  test.each([{}, marks])("is not ours with another's mark: %j", async (settings) => {
    const { core, emulator } = await start(settings);
    const other = emulator.seed({ type: "cloud", url: "https://other.example.com", ...marked({}) });
    emulator.intercept(isCreate, { afterCommit: true, status: 201, body: { ...other, url } });
    const { id } = await core.create(news);
    expect(id).not.toBe(other.id);
    expect(countCreates(emulator.requests)).toBe(1);
  });
});
