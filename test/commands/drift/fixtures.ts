import { UserError } from "../../../provider/service/apiErrors";
import { VERSION } from "../../../provider/service/version";
import type { DriftStack } from "../../../sdk/commands/drift/stack";
import type { ReadStack } from "../../../sdk/commands/otherStates";
import type { StateEntry } from "../../../sdk/commands/userProject";
import type { Seed } from "../../../sdk/testing";
import { emulator, fakeStack, other, secret, stateWith, TYPE, urnOf } from "./stacks";

/* Fixtures of `drift`: stacks, their accounts, and the arguments. */

export interface DriftFixture {
  stacks: DriftStack[];
  args?: string[];
  /** The ignored endpoints of the projects file. */
  ignore?: object[];
  /** The other stacks of the backend: what their states have, or why they cannot be read. Or why the backend cannot be listed. */
  others?: Record<string, Partial<ReadStack> | string> | string;
  /** A part of the report that the fixture is about. */
  report?: object;
  /** A line to run that the report has. */
  line?: string;
  /** What the fixture promises, so that no new snapshot loses it: the exit code, a sentence, and what the report never says. */
  promise?: { code: number; says: string; never?: string };
}

const SEEDED = "2026-01-01T00:00:00Z";
const long = "a".repeat(500);
const byHand = { description: "by hand" };
const policy = (config: object) => ({ on_http_request: [{ actions: [{ type: "deny", config }] }] });
const answer = (body: string) => ({ actions: [{ type: "custom-response", config: { body } }] });
const RULES = ["one", "two", "three", "four"].map(answer);
const fail = (reason: string) => async () => {
  throw new UserError(reason);
};

/** Seeds an endpoint, which is unmanaged unless a stack of the fixture has its id. */
function seed(name: string, more: Partial<Seed> = {}, on = emulator): string {
  const times = { created_at: SEEDED, updated_at: SEEDED };
  const url = `https://${name}.example.com`;
  return on.seed({ type: "cloud", id: `ep_${name}`, url, ...times, ...more }).id;
}

const seedMember = (name: string) => seed(name, { url: POOL.url, pooling_enabled: true });

/** An entry in another stack, of the project web. */
const entry = (name: string, more: Partial<StateEntry> = {}): StateEntry => ({
  ...{ name, urn: urnOf(name).replace("::shop::", "::web::"), type: TYPE, id: `ep_${name}` },
  ...{ isOld: false, isPendingReplacement: false, ...more },
});

/** The create of an endpoint that a run has begun. */
export const begunCreate = (name: string, inputs: object = { url: `https://${name}.example.com` }) => ({
  type: "creating",
  resource: { urn: urnOf(name), type: TYPE, custom: true, inputs },
});

/** A stack whose state changes after the first read. */
function changing(first: DriftStack, then: DriftStack): DriftStack {
  let reads = 0;
  return { ...first, state: () => (reads++ === 0 ? first : then).state() };
}

/** A run of the stack prod was killed in two creates of a pool, of which dev has another member, and in one outside of it. */
function killedInPool(): DriftFixture {
  for (const name of ["first", "second"]) seedMember(name);
  seed("plain");
  const begun = [begunCreate("plain"), ...["one", "two"].map((name) => begunCreate(name, POOL))];
  const dev = fakeStack([{ name: "member", id: seedMember("member"), inputs: POOL }], { name: "dev" });
  return { stacks: [fakeStack([], { begun }), dev] };
}

const POOL = { url: "https://pool.example.com", poolingEnabled: true };

/** A create in the pool that the stack web/dev has begun. */
const alsoInPool = () => ({
  "organization/web/dev": { creates: [{ name: "x", urn: urnOf("x"), url: POOL.url }] },
});

/** A fixture with one stack. */
const oneStack = (
  endpoints: Parameters<typeof fakeStack>[0],
  around?: Parameters<typeof fakeStack>[1],
  ...args: string[]
): DriftFixture => ({ stacks: [fakeStack(endpoints, around)], args });

/** A stack with a member of a pool, whose last update failed. */
const failedInPool = (): DriftFixture =>
  oneStack([{ name: "member", inputs: { poolingEnabled: true } }], {
    updates: async () => ({ result: "failed", isRewritten: false }),
  });

const FREE =
  "decide first about the members of pools that no state has: `pulumi up` takes over none, and adds others.";
const MEMBERS = 'See "Adopt members of a pool" in docs/adoption.md of pulumi-endpoints.';

const changed = { name: "a", live: byHand };
const gone = { name: "a", live: "gone" } as const;
const outputs = (more: object) => ({
  outputs: { type: "cloud", url: "https://a.example.com", createdAt: SEEDED, updatedAt: SEEDED, ...more },
});

/** Functions, because each fixture has new accounts. */
export const fixtures: Record<string, () => DriftFixture> = {
  "nothing has drifted since a pre-release of this version wrote the state": () => {
    const version = `${VERSION.replace(/[-+].*/, "")}-rc.1`;
    return oneStack([{ name: "a", more: outputs({ __version: version }) }, { name: "b" }]);
  },

  "every field has drifted": () =>
    oneStack([
      { name: "a-url", live: { url: "https://else.example.com" } },
      { name: "b-description", inputs: { description: `${long}one` }, live: { description: `${long}two` } },
      { name: "c-added", live: byHand },
      { name: "d-data", inputs: { metadata: { x: 1, constructor: 2 } }, live: { metadata: { x: "1" } } },
      { name: "e-policy", inputs: { trafficPolicy: policy({ a: 1 }) }, live: { trafficPolicy: policy({}) } },
      { name: "f-bindings", inputs: { bindings: ["public"] }, live: { bindings: ["internal"] } },
      { name: "g-pooling", inputs: { poolingEnabled: false }, live: { poolingEnabled: true } },
      { name: "h-deleted", live: "gone" },
      {
        name: "i-inserted",
        inputs: { trafficPolicy: { on_http_request: RULES } },
        live: { trafficPolicy: { on_http_request: [answer("by hand"), ...RULES] } },
      },
      { name: "i-order", inputs: { metadata: { x: 1, y: 2 } }, live: { metadata: { y: 2, x: 1 } } },
      {
        name: "k-broken",
        inputs: { trafficPolicy: policy({}) },
        live: { trafficPolicy: "keys: [CANARY: {" },
      },
      // A default of the service that the state has recorded.
      {
        name: "j-chosen",
        live: { bindings: ["internal"] },
        more: outputs({ url: "https://j-chosen.example.com", __serviceDefaults: { bindings: ["public"] } }),
      },
    ]),

  "edits put the account's own key into texts and into the key of one": () => {
    const own = emulator.apiKey;
    seed("unmanaged", { description: `of ${own}` });
    return oneStack([
      { name: "a", live: { trafficPolicy: policy({ with: `of ${own}` }), description: `of ${own}` } },
      { name: "b", inputs: { metadata: { [own]: 1 } }, live: { metadata: { team: own } } },
    ]);
  },

  "changes are ignored, and an endpoint is only read, or waits for its deletion": () =>
    oneStack([
      { name: "a", live: byHand, more: { ignoreChanges: ["description"] } },
      {
        name: "b",
        inputs: { metadata: { x: 1, y: [{ k: 2, l: 2 }] } },
        live: { metadata: { x: 3, y: [{ k: 4, l: 4 }] } },
        more: { ignoreChanges: ["metadata.x", "metadata.y[*].k"] },
      },
      { name: "c", live: "gone", more: { external: true } },
      { name: "d", live: "gone", more: { delete: true } },
    ]),

  "the list lacks an input, which is read by id, and has an item that cannot be read": () => {
    const withPolicy = (a: number) => ({ trafficPolicy: policy({ a }) });
    const fixture = oneStack([{ name: "a", inputs: withPolicy(1), live: withPolicy(2) }]);
    const a = { id: "ep_a", type: "cloud", url: "https://a.example.com" };
    const endpoints = [a, { ...a, id: "ep_bad", url: ["https://bad.example.com"] }];
    emulator.intercept(({ path }) => path === "/endpoints", { status: 200, body: { endpoints } });
    return fixture;
  },

  "an endpoint is gone, and another key wrote its state": () =>
    oneStack([{ ...gone, more: outputs({ __accountFingerprint: "before" }) }]),

  "a later version wrote the state": () => oneStack([{ ...gone, more: outputs({ __version: "99.0.0" }) }]),

  "an endpoint of the state is of another type": () => {
    emulator.seed({ type: "ephemeral", id: "ep_a", url: "https://a.example.com" });
    return oneStack([{ name: "a" }]);
  },

  "an up removes an endpoint during the check": () => ({
    stacks: [changing(fakeStack([gone]), fakeStack([]))],
    report: { stacks: [{ drifted: [], unchecked: [{ what: "a (ep_a)" }] }] },
  }),

  "an up creates an endpoint during the check": () => ({
    stacks: [changing(fakeStack([]), fakeStack([{ name: "new" }]))],
    report: { accounts: [{ endpoints: 1, unmanaged: [] }] },
  }),

  "stacks use two accounts, and one of them an explicit provider": () => {
    const provider = {
      // The engine names its own provider default, as this project is named.
      urn: "urn:pulumi:far::default::pulumi:providers:endpoints::second",
      type: "pulumi:providers:endpoints",
      ...{ custom: true, id: "1", inputs: { baseUrl: other.baseUrl, apiKey: secret(other.apiKey) } },
    };
    const onOther = { type: "endpoints:index:CloudEndpoint", provider: `${provider.urn}::1` };
    const id = seed("b", byHand, other);
    return {
      stacks: [
        fakeStack([{ name: "a" }]),
        fakeStack([{ name: "c" }, { name: "b", id, more: onOther }], { name: "far", extra: [provider] }),
        fakeStack([{ name: "d" }], { name: "dev", on: other }),
      ],
    };
  },

  "an explicit provider of a generated SDK has settings as JSON texts": () => {
    const provider = {
      urn: "urn:pulumi:prod::shop::pulumi:providers:endpoints::second",
      type: "pulumi:providers:endpoints",
      ...{ custom: true, id: "1" },
      inputs: {
        ...{ baseUrl: other.baseUrl, apiKey: secret(other.apiKey) },
        ...{ policyWarnings: '"error"', requestsPerWindow: "60" },
      },
    };
    const onOther = { type: "endpoints:index:CloudEndpoint", provider: `${provider.urn}::1` };
    const id = seed("b", byHand, other);
    return oneStack([{ name: "b", id, more: onOther }], { extra: [provider] });
  },

  "the key of an explicit provider is refused": () => {
    const urn = "urn:pulumi:prod::shop::pulumi:providers:endpoints::second";
    const inputs = { baseUrl: emulator.baseUrl, apiKey: secret("a-key-of-nobody-at-all") };
    const provider = { urn, type: "pulumi:providers:endpoints", custom: true, id: "1", inputs };
    const onOther = { type: "endpoints:index:CloudEndpoint", provider: `${urn}::1` };
    return oneStack([{ name: "b", more: onOther }], { extra: [provider] });
  },

  "two accounts of a service have different keys": () => {
    const settings = new Map([["endpoints:baseUrl", emulator.baseUrl]]).set(
      "endpoints:apiKey",
      "a-key-of-nobody-at-all",
    );
    const around = { name: "dev", config: async () => (key: string) => settings.get(key) };
    return { stacks: [fakeStack([{ name: "a" }]), fakeStack([{ name: "b" }], around)] };
  },

  "stacks share a cause": () => {
    seed("maybe-theirs");
    const locked = fail("the passphrase must be set");
    return {
      stacks: [
        ...["p", "q", "r", "s"].map((name) => fakeStack([], { name, state: locked })),
        fakeStack([{ name: "b" }, { name: "c" }], { name: "t", config: locked }),
        fakeStack([changed], { name: "good" }),
      ],
      report: {
        stacks: [
          ...Array(4).fill({ unchecked: [{ what: "the stack's state" }] }),
          { unchecked: [{ what: "the stack's configuration" }] },
          { unchecked: [] },
        ],
        accounts: [{ unmanaged: [], unknown: 1 }],
        otherStacks: { unread: ["p", "q", "r", "s"].map((name) => ({ name: `organization/shop/${name}` })) },
      },
    };
  },

  "the last update failed, and an operation is pending": () => {
    const pending = [{ type: "creating", resource: { urn: "", type: "" } }];
    return oneStack([], {
      state: async () => stateWith([], pending),
      updates: async () => ({ result: "failed", isRewritten: false }),
    });
  },

  "a killed run left creates outside of pools, of one without effect": () => {
    for (const name of ["plain", "differs"]) seed(name);
    seed("pooling", { pooling_enabled: true });
    const begun = [
      begunCreate("differs", { url: "https://differs.example.com", description: "ours" }),
      begunCreate("plain"),
      begunCreate("unsent"),
      // A second run was killed, too.
      begunCreate("plain"),
    ];
    return oneStack([{ name: "a" }], { begun });
  },

  "a killed run left creates in and out of a pool": () => ({
    ...killedInPool(),
    promise: {
      code: 8,
      says: `creates of prod are pending in a pool, and no state that was read has ep_second, ep_first. \`pulumi up\` would add members. ${MEMBERS}`,
      never: "--stack",
    },
  }),

  "a killed run left creates in and out of a pool, and a state of the backend cannot be read": () => ({
    ...killedInPool(),
    others: { "organization/web/prod": "it is locked" },
  }),

  "a create is pending of a resource that does not pool, on the URL of a pool": () => {
    seed("one", { pooling_enabled: true });
    return {
      ...oneStack([], { begun: [begunCreate("one")] }),
      promise: { code: 8, says: "creates of prod are pending in a pool", never: "--stack" },
    };
  },

  "a replacement was killed in its create, and another create replaces an entry of its own URN": () => {
    seed("new", { url: "https://replaced.example.com" });
    seed("left", { url: "https://repeated.example.com", pooling_enabled: true });
    const repeated = { url: "https://repeated.example.com", poolingEnabled: true };
    const begun = [begunCreate("replaced"), begunCreate("repeated", repeated)];
    const replaced = { name: "replaced", live: "gone" as const, more: { pendingReplacement: true } };
    return oneStack([replaced, { name: "repeated", inputs: repeated }], { begun });
  },

  "a replacement moves to another URL, was killed in its create, and its old endpoint still exists": () => {
    const begun = [begunCreate("kept", { url: "https://new.example.com" })];
    return oneStack([{ name: "kept", more: { pendingReplacement: true } }], { begun });
  },

  "creates are pending, and what is on their URLs is ignored, or of another stack": () => {
    seed("left");
    const creates = [{ name: "x", urn: urnOf("x"), url: "https://begun.example.com" }];
    seed("begun");
    return {
      ...oneStack([], { begun: ["left", "known", "begun"].map((name) => begunCreate(name)) }),
      others: {
        "organization/web/prod": { entries: [entry("known", { id: seed("known") })] },
        "organization/web/dev": { creates },
      },
      ignore: [{ url: "https://left.*", reason: "of another team" }],
      promise: {
        code: 8,
        says: "decide whether the killed run made ep_left, which a rule of `ignore` names.",
        never: "pulumi up",
      },
    };
  },

  "a create is pending whose URL, description and metadata are secret, and an endpoint has them": () => {
    const url = "https://canary-7.example.com";
    const description = "CANARY-DESCRIPTION";
    const inputs = {
      url: secret(url),
      description: secret(description),
      metadata: secret({ pin: "CANARY-PIN" }),
    };
    seed("left", { url, description });
    seed("pin", { description: "with CANARY-PIN" });
    seed("ignored", { url: `${url}:443`, description });
    seed("copy", { description: `like ${description}` });
    const live = { description: `like ${description}, on ${url}` };
    return {
      ...oneStack([{ name: "a", live }], { begun: [begunCreate("hidden", inputs)] }),
      ignore: [{ id: "ep_ignored", reason: "its id" }],
      promise: { code: 7, says: "decide whether the killed run made ep_ignored", never: "pulumi up" },
    };
  },

  "an error repeats a secret URL": () => {
    const url = "https://canary-5.example.com";
    const lost = fakeStack([], { name: "lost", state: fail(`cannot reach ${url}`) });
    return { stacks: [fakeStack([{ name: "a", inputs: { url: secret(url) } }]), lost] };
  },

  "an endpoint is unmanaged on the secret URL of a pool": () => {
    const url = "https://canary-9.example.com";
    seed("left", { url, pooling_enabled: true });
    return oneStack([{ name: "a", inputs: { url: secret(url), poolingEnabled: true } }]);
  },

  "two stacks have a pending create in one pool": () => {
    seedMember("pool");
    const begun = [begunCreate("one", POOL)];
    return {
      stacks: ["prod", "shop/dev"].map((name) => fakeStack([], { name, begun })),
      promise: {
        code: 8,
        says: "next prod: creates of prod, shop/dev are pending in a pool, and no state that was read has ep_pool",
        never: "--stack",
      },
    };
  },

  "a stack that was not given has a pending create in the same pool": () => {
    seedMember("pool");
    return {
      ...oneStack([{ name: "a" }], { begun: [begunCreate("one", POOL)] }),
      others: alsoInPool(),
      promise: {
        code: 8,
        says: "creates of prod, web/dev are pending in a pool, and no state that was read has ep_pool",
        never: "--stack",
      },
    };
  },

  "another stack is creating in a pool, in which it is unknown who has a member": () => {
    seedMember("pool");
    const says = "Members of a pool cannot be told apart, and web/dev is creating one.";
    return {
      ...oneStack([{ name: "member", id: seedMember("member"), inputs: POOL }]),
      others: alsoInPool(),
      promise: { code: 0, says, never: "of other stacks" },
    };
  },

  "another stack is creating in a pool, and unmanaged endpoints are to fail the check": () => {
    seedMember("pool");
    const says = "members of a pool cannot be told apart, and web/dev is creating one";
    return {
      ...oneStack([{ name: "a" }], {}, "--fail-on-unmanaged"),
      others: alsoInPool(),
      promise: { code: 1, says, never: "unmanaged https" },
    };
  },

  "a state was lost, and another stack is creating in a pool": () => {
    seedMember("pool");
    seed("one");
    const says = "who has 1 other endpoint of the account: members of a pool";
    return { ...oneStack([]), others: alsoInPool(), promise: { code: 1, says, never: "endpoints:adopt" } };
  },

  "the create of a member's replacement was lost, on another URL than its old one": () => {
    seed("new", { url: "tls://pool.example.com", pooling_enabled: true });
    const more = { pendingReplacement: true };
    return {
      ...oneStack([{ name: "member", inputs: POOL, live: "gone", more }]),
      promise: {
        code: 8,
        says: "nothing is left on https://pool.example.com\n",
        never: "`pulumi up` creates",
      },
    };
  },

  "two members of one name, in two components, are pending": () => {
    const begun = ["a", "b"].map((parent) => {
      const { type, resource } = begunCreate("one", POOL);
      return { type, resource: { ...resource, urn: urnOf("one", `shop:index:${parent}$${TYPE}`) } };
    });
    for (const name of ["first", "second"]) seedMember(name);
    return {
      ...oneStack([], { begun }),
      promise: { code: 8, says: "has ep_second, ep_first.", never: "--stack" },
    };
  },

  "a create is pending, and another stack, which may have what is on its URL, cannot be read": () => {
    seed("plain");
    return {
      ...oneStack([], { begun: [begunCreate("plain")] }),
      others: { "organization/web/lost": "it is locked" },
    };
  },

  "another stack is creating what looks unmanaged": () => {
    seed("theirs");
    seed("by-hand");
    const create = { name: "x", urn: urnOf("x"), url: "https://theirs.example.com" };
    return {
      ...oneStack([{ name: "a" }]),
      others: { "organization/web/dev": { creates: [create] } },
      promise: { code: 0, says: "1 of other stacks", never: "ep_theirs" },
    };
  },

  "another stack is creating an endpoint whose URL is encrypted": () => {
    seed("maybe-theirs");
    const create = { name: "x", urn: urnOf("x"), url: undefined };
    const says = "unread web/dev: it is creating an endpoint whose URL is encrypted";
    return {
      ...oneStack([{ name: "a" }]),
      others: { "organization/web/dev": { creates: [create] } },
      promise: { code: 0, says, never: "ep_maybe-theirs" },
    };
  },

  "a state was lost": () => {
    seed("one");
    seed("two");
    return {
      ...oneStack([]),
      line: "pulumi up --config endpoints:adopt=ep_two,ep_one --stack prod",
      promise: { code: 0, says: "No cloud endpoint in the state, 2 unmanaged.\n" },
    };
  },

  "a state was lost that had a member of a pool, too": () => {
    seed("one");
    seedMember("member");
    return { ...oneStack([]), promise: { code: 0, says: `${FREE} ${MEMBERS}`, never: "endpoints:adopt" } };
  },

  "a state was lost, and the backend cannot be listed": () => {
    seed("one");
    const says = "As long as a state cannot be read, it is unknown who has these endpoints.";
    return {
      ...{ ...oneStack([]), others: "unexpected end of JSON input" },
      promise: { code: 1, says, never: "pulumi up" },
    };
  },

  "a state was lost, and another one cannot be read": () => {
    seed("one");
    const says = "who has 1 other endpoint of the account: not every state could be read";
    return {
      ...{ ...oneStack([]), others: { "organization/web/lost": "it is locked" } },
      promise: { code: 1, says, never: "pulumi up" },
    };
  },

  "a create is pending whose secret URL is not shown, of an account that cannot be listed": () => {
    emulator.intercept(({ path }) => path === "/endpoints", { status: 403, body: {} });
    return oneStack([], { begun: [begunCreate("hidden", { url: secret("https://CANARY-7.example.com") })] });
  },

  "a state has nothing but a pending create, and another endpoint is unmanaged": () => {
    seed("plain");
    seed("other");
    const line =
      "pulumi refresh --yes --clear-pending-creates --stack prod && pulumi up --config endpoints:adopt=ep_plain --stack prod";
    return {
      ...oneStack([], { begun: [begunCreate("plain")] }),
      promise: { code: 8, says: `    ${line}\n`, never: "next account" },
    };
  },

  "a create is pending of a stack with an endpoint, and another state cannot be read": () => {
    seed("plain");
    return {
      ...oneStack([{ name: "a" }], { begun: [begunCreate("plain")] }),
      others: { "organization/web/lost": "it is locked" },
      promise: {
        code: 1,
        says: "what a killed run left is unchecked, and clearing the pending creates would hide it.",
        never: "pulumi up",
      },
    };
  },

  "a state is empty, and another one cannot be read again, to which an up may add meanwhile": () => {
    let reads = 0;
    const dev = fakeStack([{ name: "a" }], { name: "dev" });
    const state = () => (reads++ === 0 ? dev.state() : fail("it is locked")());
    seed("new");
    return {
      stacks: [fakeStack([]), { ...dev, state }],
      promise: { code: 1, says: "unread dev: it is locked", never: "pulumi up" },
    };
  },

  "an up finishes a create during the check": () => ({
    stacks: [
      changing(
        fakeStack([], { begun: [begunCreate("plain")] }),
        fakeStack([{ name: "plain", id: seed("plain") }]),
      ),
    ],
    promise: {
      code: 1,
      says: "plain (its create): an update of the stack changed it during the check: run the command again",
      never: "pulumi up",
    },
  }),

  "the last update has not ended": () =>
    oneStack([{ name: "a" }], { updates: async () => ({ result: "in-progress", isRewritten: false }) }),

  "the last update failed, and there is drift": () =>
    oneStack([changed], { updates: async () => ({ result: "failed", isRewritten: false }) }),

  "the last update of a pool failed, without a stray member": () => failedInPool(),

  "the last update of a pool failed, and a member is unmanaged": () => {
    seed("stray", { url: "https://member.example.com", pooling_enabled: true });
    return { ...failedInPool(), promise: { code: 8, says: `${FREE} ${MEMBERS}` } };
  },

  "the last update failed before its first member of a pool, and a member is unmanaged": () => {
    seedMember("member");
    const updates = async () => ({ result: "failed", isRewritten: false });
    return { ...oneStack([{ name: "a" }], { updates }), promise: { code: 8, says: FREE } };
  },

  "a refresh since the last up may have written edits into the state": () =>
    oneStack([{ name: "a" }], { updates: async () => ({ result: "succeeded", isRewritten: true }) }),

  "replacements are pending whose old endpoints Pulumi has not deleted": () =>
    oneStack(["kept", "also"].map((name) => ({ name, more: { pendingReplacement: true } }))),

  "replacements are pending, of which one deleted the old endpoint, and one left that of another stack":
    () => {
      const pending = { more: { pendingReplacement: true } };
      const endpoints = [
        { name: "kept", ...pending },
        { name: "also", ...pending },
        { name: "deleted", live: "gone" as const, ...pending },
        { name: "both", ...pending },
        { name: "a" },
      ];
      return { stacks: [fakeStack(endpoints), fakeStack([{ name: "both" }], { name: "shop/dev" })] };
    },

  "two stacks, and two entries of one state, have one endpoint": () => {
    const inComponent = { urn: urnOf("twice", `shop:index:Shop$${TYPE}`) };
    const prod = [{ name: "twice" }, { name: "twice", more: inComponent }, { name: "both" }];
    const shared = [
      { id: "ep_twice", resources: ["prod", "prod"].map((stack) => ({ stack, name: "twice" })) },
      { id: "ep_both", resources: ["prod", "shop/dev"].map((stack) => ({ stack, name: "both" })) },
    ];
    const stacks = [fakeStack(prod), fakeStack([{ name: "both" }], { name: "shop/dev" })];
    return { stacks, report: { outcome: "drift", shared } };
  },

  "endpoints are unmanaged, of another stack and ignored": () => {
    seed("by-hand", { description: "made by hand", principal: { id: "usr_1", uri: "" } });
    seed("status", { metadata: '{"team":"vendor"}' });
    const id = seed("by-id");
    seed("*", { id: "ep_wildcard" });
    return {
      ...oneStack([], {}, "--fail-on-unmanaged"),
      others: {
        "organization/web/prod": { entries: [entry("known", { id: seed("known") })] },
        "organization/web/dev": {},
      },
      // All conditions of an entry must hold.
      ignore: [
        // Without the backslash, this pattern would also match the other endpoints.
        { url: "https://\\*.example.com", reason: "the wildcard" },
        { url: "https://STATUS.*", metadata: { team: "vendor" }, reason: "the vendor's" },
        { id, reason: "its id" },
        { url: "https://by-hand.*", metadata: { team: "a" }, reason: "wrong" },
        { id, url: "https://else.*", reason: "wrong" },
      ],
    };
  },

  "endpoints are unmanaged": () => {
    seed("by-hand");
    seed("pooling", { pooling_enabled: true });
    return oneStack([{ name: "a" }]);
  },

  "the times of endpoints have no zone, or are no times that a report can have": () => {
    for (const [index, time] of [
      "2026-01-01T00:00:00",
      "2026-01-01T00:00:00-03:30",
      "12345",
      "9999-12-31T23:59:59-01:00",
    ].entries())
      seed(`time-${index}`, { created_at: time, updated_at: time });
    return oneStack([]);
  },

  "another stack has an endpoint of a given stack, too": () => {
    seed("more");
    const entries = [entry("a"), entry("ours", { id: "ep_more" }), entry("old", { id: "ep_c", isOld: true })];
    return {
      ...oneStack([{ name: "a" }, { name: "c" }]),
      others: { "organization/web/prod": { entries } },
      promise: { code: 7, says: "shared ep_a: 'a' of the stack prod", never: "shared ep_c" },
    };
  },

  "another stack has an endpoint, too, and the checked stacks have all of the account": () => ({
    ...oneStack([{ name: "a" }]),
    others: { "organization/web/old": { entries: [entry("a")] } },
    promise: { code: 7, says: "'a' of the stack web/old" },
  }),

  "another stack cannot be read, and the checked stacks have all endpoints of the account": () => ({
    ...oneStack([{ name: "a" }]),
    others: { "organization/web/lost": "it is locked" },
    promise: { code: 0, says: "unread web/lost: it is locked" },
  }),

  "another stack cannot be read": () => {
    seed("maybe-its");
    return { ...oneStack([changed]), others: { "organization/web/lost": "it is locked" } };
  },

  "another stack cannot be read, and unmanaged endpoints are to fail the check": () => {
    seed("maybe-its");
    return {
      ...oneStack([changed], {}, "--fail-on-unmanaged"),
      others: { "organization/web/lost": "it is locked" },
    };
  },

  "secrets have drifted, and were copied to other fields": () =>
    oneStack([
      {
        name: "a",
        inputs: {
          trafficPolicy: policy({ client_secret: "CANARY-1", pin: { password: "CANARY-ü" }, api_key: 77 }),
          metadata: {
            credentials: { bob: { pass: "CANARY-DEEP" } },
            headers: [{ name: "Authorization", value: "Bearer CANARY-PAIR" }],
          },
        },
        live: {
          trafficPolicy: policy({
            client_secret: "CANARY-2",
            pin: { password: "CANARY-û" },
            api_key: 88,
            more: "CANARY-2!",
          }),
          metadata: {
            credentials: { amy: { pass: 123456 } },
            headers: [{ name: "Authorization", value: "Bearer CANARY-PAIR2" }],
            word: "word",
            password: [12345678],
            same: 12345678,
            "CANARY-1-name": true,
          },
          description: "it is CANARY-1, CANARY-DEEP, Bearer CANARY-PAIR, 12345678",
        },
      },
      {
        name: "c",
        inputs: { metadata: { headers: [{ name: "Authorization", value: "CANARY-HEADER" }] } },
        live: { metadata: { headers: [{ name: "Authorization", value: "CANARY-HEADER2" }] } },
      },
      {
        name: "b",
        inputs: { trafficPolicy: policy({ client_secret: "CANARY-3" }) },
        live: { trafficPolicy: "client_secret: CANARY-4: x" },
      },
    ]),

  "an unmanaged endpoint repeats its secrets in its description": () => {
    const description = "see https://bob:p5@db.example.com, with CANARY-SECRET";
    const traffic_policy = JSON.stringify(policy({ secret: "CANARY-SECRET" }));
    seed("x", { description, traffic_policy });
    seed("y", { description: "with CANARY-SECRET", traffic_policy });
    return { ...oneStack([]), promise: { code: 0, says: '(ep_y, "[secret]", created' } };
  },

  "fields that the state keeps secret have drifted": () =>
    oneStack([
      {
        name: "a",
        inputs: {
          url: secret("https://CANARY-6.example.com"),
          metadata: secret({ on: true }),
          trafficPolicy: secret(policy({ pin: "hun2", long: "CANARY-1-2", longer: "CANARY-1-2-3" })),
        },
        live: {
          url: "https://CANARY-8.example.com",
          metadata: { on: false },
          trafficPolicy: policy({ pin: "hun3", long: "CANARY-1-2" }),
          description: "hun2, CANARY-1-2-3 of the trafficPolicy, CANARY-1-2",
        },
      },
    ]),

  "the texts of other people try to control what shows them": () => {
    const hostile = `\u001b[31m\u202e</style><script>hacked = 1</script>"><img src=x onerror="hacked = 1">\u200b\u0000
##vso[task.complete]##[add-mask]`;
    seed("x", { description: hostile, metadata: hostile });
    const inputs = { url: "https://a.example.com" };
    const endpoint = { name: `a${hostile}`, id: "ep_a", inputs, live: { description: hostile } };
    const lost = fakeStack([], { name: "lost", state: fail(hostile) });
    return { stacks: [fakeStack([endpoint], { name: `prod${hostile}` }), lost] };
  },
};
