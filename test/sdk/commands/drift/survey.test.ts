import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { DriftStack, Ran } from "../../../../sdk/commands/drift/stack";
import { StackError } from "../../../../sdk/commands/stacks";
import { Emulator, type ExportedResource, type Step } from "../../../../sdk/testing";
import { SECRET, SIGNATURE } from "../../../../sdk/testing/engine/values";
import { drift } from "./run";

/* What the command makes of states and steps that are made up, and of real accounts. */

let emulator: Emulator;
let other: Emulator;
beforeEach(async () => {
  [emulator, other] = await Promise.all([Emulator.start(), Emulator.start()]);
});
afterEach(() => Promise.all([emulator.close(), other.close()]));

const TYPE = "pulumi-nodejs:dynamic/endpoints:CloudEndpoint";
const urnOf = (name: string, type = TYPE) => `urn:pulumi:prod::shop::${type}::${name}`;
const secret = (value: unknown) => ({ [SIGNATURE]: SECRET, plaintext: JSON.stringify(value) });

interface Made {
  name: string;
  id?: string;
  inputs?: Record<string, unknown>;
  /** What a refresh finds; undefined where nothing is known of it. */
  live?: Record<string, unknown> | "gone" | "unread";
  more?: Partial<ExportedResource>;
}

function stackOf(
  endpoints: Made[],
  around: Partial<DriftStack> & { on?: Emulator; extra?: ExportedResource[] } = {},
): DriftStack {
  const { on = emulator, extra = [], ...own } = around;
  const settings: Record<string, string> = { "endpoints:baseUrl": on.baseUrl, "endpoints:apiKey": on.apiKey };
  const all = endpoints.map(({ name, id = `ep_${name}`, inputs, more }) => {
    const given = { url: `https://${name}.example.com`, ...inputs };
    return {
      urn: urnOf(name),
      type: TYPE,
      custom: true,
      id,
      inputs: given,
      outputs: { type: "cloud", ...given },
      ...more,
    };
  });
  const steps = endpoints.flatMap(({ name, id = `ep_${name}`, inputs, live }): Step[] => {
    const about = { urn: urnOf(name), type: TYPE, name, id, diff: [] };
    if (live === "unread") return [];
    if (live === undefined) return [{ ...about, op: "same" }];
    if (live === "gone") return [{ ...about, op: "delete" }];
    return [
      {
        ...about,
        op: "update",
        outputs: { type: "cloud", url: `https://${name}.example.com`, ...inputs, ...live },
      },
    ];
  });
  const ran: Ran = { ok: true, steps, diagnostics: [] };
  const manifest = { time: "", magic: "", version: "" };
  return {
    name: "prod",
    config: async () => (key) => settings[key],
    state: async () => ({ version: 3, deployment: { manifest, resources: [...extra, ...all] } }),
    look: async () => ran,
    plan: async () => ran,
    rehearse: async () => ran,
    repair: async () => ran,
    ...own,
  };
}

const changesOf = (ended: Awaited<ReturnType<typeof drift>>) =>
  ended.report.stacks.flatMap(({ drifted }) =>
    drifted.flatMap(({ changes }) => changes.map(({ path, expected, live }) => [path, expected, live])),
  );

test("what the program ignores is no drift, and neither is an endpoint that it only reads", async () => {
  const ended = await drift([
    stackOf([
      { name: "a", live: { description: "by hand" }, more: { ignoreChanges: ["description"] } },
      {
        name: "b",
        inputs: { metadata: { x: 1, y: 2 } },
        live: { metadata: { x: 3, y: 4 }, description: "by hand" },
        more: { ignoreChanges: ["metadata.x"] },
      },
      { name: "c", live: "gone", more: { external: true } },
    ]),
  ]);
  expect(ended.report.stacks[0]?.endpoints).toBe(2);
  expect(changesOf(ended)).toEqual([
    ["description", undefined, "by hand"],
    ["metadata.y", 2, 4],
  ]);
});

test("no secret is shown, however short, wherever it was copied to, in a broken policy, or where only it is known to differ", async () => {
  const policy = (config: object) => ({ on_http_request: [{ actions: [{ type: "oauth", config }] }] });
  const ended = await drift([
    stackOf([
      {
        name: "a",
        inputs: {
          trafficPolicy: policy({ client_secret: "CANARY-1", pin: { password: "ü1" }, api_key: 77 }),
        },
        live: {
          trafficPolicy: policy({
            client_secret: "CANARY-2",
            pin: { password: "ü2" },
            api_key: 88,
            more: "CANARY-2!",
          }),
          description: "it is CANARY-1",
        },
      },
      {
        name: "b",
        inputs: { trafficPolicy: policy({ client_secret: "CANARY-3" }) },
        live: { trafficPolicy: "client_secret: CANARY-4: x" },
      },
      {
        name: "c",
        inputs: {
          trafficPolicy: secret(policy({ some: "CANARY-5" })),
          url: secret("https://CANARY-6.example.com"),
        },
        live: { trafficPolicy: "[secret]", url: "[secret]" },
      },
    ]),
  ]);
  const at = "trafficPolicy.on_http_request[0].actions[0].config";
  expect(changesOf(ended)).toEqual([
    [`${at}.client_secret`, "[secret]", "[secret]"],
    [`${at}.pin.password`, "[secret]", "[secret]"],
    [`${at}.api_key`, "[secret]", "[secret]"],
    [`${at}.more`, undefined, "[secret]!"],
    ["description", undefined, "it is [secret]"],
    ["trafficPolicy", expect.anything(), "[text that is no policy]"],
    ["url", "[secret]", "[secret]"],
    ["trafficPolicy", "[secret]", "[secret]"],
  ]);
  expect(JSON.stringify(ended)).not.toMatch(/CANARY|ü1|ü2|https:..c\./);
});

test("what the list leaves out of an endpoint is not told as removed, and what it has is told by its places", async () => {
  const policy = (status: number) => ({
    on_http_request: [{ actions: [{ type: "deny", config: { status_code: status } }] }],
  });
  const { id } = emulator.seed({
    type: "cloud",
    url: "https://a.example.com",
    traffic_policy: JSON.stringify(policy(403)),
  });
  const inputs = { trafficPolicy: secret(policy(404)) };
  const stacks = [stackOf([{ name: "a", id, inputs, live: { trafficPolicy: "[secret]" } }])];
  expect(changesOf(await drift(stacks))).toEqual([
    ["trafficPolicy.on_http_request[0].actions[0].config.status_code", "[secret]", "[secret]"],
  ]);
  const body = { endpoints: [{ id, type: "cloud", url: "https://a.example.com" }] };
  emulator.intercept(({ path }) => path === "/endpoints", { status: 200, body });
  expect(changesOf(await drift(stacks))).toEqual([["trafficPolicy", "[secret]", "[secret]"]]);
});

test("stacks on two accounts, and one on an explicit provider's, have their unmanaged endpoints told apart", async () => {
  const third = await Emulator.start();
  try {
    const [mine, theirs, third1] = [emulator, other, third].map((on) => on.seed({ type: "cloud" }).id);
    const loose = other.seed({ type: "cloud", url: "https://loose.example.com" });
    const provider: ExportedResource = {
      urn: urnOf("second", "pulumi:providers:endpoints"),
      type: "pulumi:providers:endpoints",
      custom: true,
      id: "1",
      inputs: { baseUrl: third.baseUrl, apiKey: secret(third.apiKey) },
    };
    const onThird = {
      urn: urnOf("t", "endpoints:index:CloudEndpoint"),
      type: "endpoints:index:CloudEndpoint",
      provider: `${provider.urn}::1`,
    };
    const third2 = third.seed({ type: "cloud", url: "https://third.example.com" });
    const ended = await drift([
      stackOf([{ name: "a", id: mine ?? "" }]),
      stackOf([{ name: "b", id: theirs ?? "" }], { name: "dev", on: other }),
      stackOf([{ name: "t", id: third1 ?? "", live: "unread", more: onThird }], {
        name: "far",
        extra: [provider],
        config: async () => () => undefined,
      }),
    ]);
    expect(
      ended.report.accounts.map(({ service, stacks, unmanaged }) => [
        service,
        stacks,
        unmanaged.map(({ id }) => id),
      ]),
    ).toEqual([
      [emulator.baseUrl, ["prod"], []],
      [other.baseUrl, ["dev"], [loose.id]],
      [third.baseUrl, ["far"], [third2.id]],
    ]);
    for (const { apiKey } of [emulator, other, third]) expect(JSON.stringify(ended)).not.toContain(apiKey);
  } finally {
    await third.close();
  }
});

test("without a stack's state nothing is called unmanaged, and what could not be read is told", async () => {
  emulator.seed({ type: "cloud" });
  const lost = stackOf([], {
    name: "lost",
    state: async () => {
      throw new StackError("no stack named 'lost' found");
    },
  });
  const ended = await drift([stackOf([{ name: "a", live: "unread" }]), lost]);
  expect(ended.code).toBe(1);
  expect(ended.report.accounts[0]?.unmanaged).toEqual([]);
  expect(ended.stdout).toMatch(/could not see a \(ep_a\): Pulumi did not read it/);
  expect(ended.stdout).toMatch(/could not see the stack's state: no stack named 'lost' found/);
  expect(ended.stdout).toMatch(
    /could not see which endpoints are unmanaged: a stack's state could not be read/,
  );
});

test("a backend that asks for a login ends with the number for that", async () => {
  const state = async () => {
    throw new StackError("please log in", 3);
  };
  expect((await drift([stackOf([], { state })])).code).toBe(3);
});

test("a repair that fails half-way says what was done and what was not, and how to go on", async () => {
  const stack = stackOf([
    { name: "a", live: { description: "by hand" } },
    { name: "b", live: "gone" },
  ]);
  const look = await stack.look(() => {});
  let looks = 0;
  const step = (name: string, op: Step["op"]): Step => ({ urn: urnOf(name), type: TYPE, name, op, diff: [] });
  const ended = await drift(
    [
      {
        ...stack,
        plan: async () => ({ ok: true, steps: [step("a", "same"), step("b", "same")], diagnostics: [] }),
        repair: async () => ({
          ok: false,
          steps: [step("a", "update")],
          diagnostics: [{ severity: "error", urn: urnOf("b"), message: "cannot create b: status 500" }],
        }),
        look: async () => (++looks === 1 ? look : { ...look, steps: [step("a", "same"), step("b", "same")] }),
      },
    ],
    "--fix",
  );
  expect(ended.code).toBe(1);
  expect(ended.report.stacks[0]?.drifted.map(({ name, repair }) => [name, repair?.done])).toEqual([
    ["a", true],
    ["b", false],
  ]);
  expect(ended.stdout).toMatch(
    /not repaired: cannot create b: status 500\. The state may hold .*finish with `pulumi up`/,
  );
});

test("nothing is repaired where the program's preview fails", async () => {
  let repairs = 0;
  const stack = stackOf([{ name: "a", live: { description: "by hand" } }], {
    plan: async () => ({
      ok: false,
      steps: [],
      diagnostics: [{ severity: "error", message: "it does not compile" }],
    }),
    repair: async () => {
      repairs++;
      throw new Error("must not be called");
    },
  });
  const ended = await drift([stack], "--fix");
  expect(ended.code).toBe(1);
  expect(ended.stdout).toContain("not repaired: the program's preview failed: it does not compile");
  expect(repairs).toBe(0);
});

test("where no endpoint could be compared, no form of the report says that there is no drift", async () => {
  const look = async () => {
    throw new StackError("the plugin does not start");
  };
  const ended = await drift([stackOf([{ name: "a" }, { name: "b" }], { look })]);
  expect(ended.code).toBe(1);
  expect(ended.report.stacks).toMatchObject([{ endpoints: 2, compared: 0 }]);
  for (const form of [ended.stdout, ended.page]) {
    expect(form).toMatch(/0 of 2 cloud endpoints compared/);
    expect(form).not.toMatch(/no drift/i);
  }
});

test("what a state keeps secret, all below a secret's name and the value beside one are in no place of the report", async () => {
  const ended = await drift([
    stackOf([
      {
        name: "a",
        inputs: {
          url: "https://canary-state.example.com",
          trafficPolicy: secret({ some: "canary-state", short: "word" }),
          metadata: {
            credentials: { bob: { pass: "CANARY-DEEP" } },
            headers: [{ name: "Authorization", value: "Bearer CANARY-PAIR" }],
            word: "a word",
          },
        },
        live: {
          trafficPolicy: "[secret]",
          description: "canary-state, CANARY-DEEP, Bearer CANARY-PAIR",
          metadata: {
            credentials: { bob: { pass: "CANARY-DEEP2" }, amy: { pass: 123456 } },
            headers: [
              { name: "Authorization", value: "Bearer CANARY-PAIR2" },
              { key: "token", value: "x-1" },
            ],
            word: "word",
            copy: "canary-state",
          },
        },
      },
    ]),
  ]);
  expect(changesOf(ended)).toEqual(
    expect.arrayContaining([
      ["description", undefined, "[secret], [secret], [secret]"],
      ["metadata.credentials.bob.pass", "[secret]", "[secret]"],
      ["metadata.credentials.amy", undefined, { pass: "[secret]" }],
      ["metadata.headers[0].value", "[secret]", "[secret]"],
      ["metadata.headers[1]", undefined, { key: "token", value: "[secret]" }],
      ["metadata.word", "a word", "word"],
      ["metadata.copy", undefined, "[secret]"],
    ]),
  );
  expect(JSON.stringify(ended)).not.toMatch(/canary|123456|x-1/i);
});

test("an explicit provider's account is its own, also in a project whose name is default", async () => {
  const providerUrn = "urn:pulumi:prod::default::pulumi:providers:endpoints::second";
  const provider: ExportedResource = {
    urn: providerUrn,
    type: "pulumi:providers:endpoints",
    custom: true,
    id: "1",
    inputs: { baseUrl: other.baseUrl, apiKey: secret(other.apiKey) },
  };
  const type = "endpoints:index:CloudEndpoint";
  const urn = `urn:pulumi:prod::default::${type}::a`;
  const more = { urn, type, provider: `${providerUrn}::1` };
  const ended = await drift([stackOf([{ name: "a", live: "unread", more }], { extra: [provider] })]);
  expect(ended.report.accounts.map(({ service }) => service)).toEqual([other.baseUrl]);
});

test("after an interruption no other stack and no account is begun, and what is left is told", async () => {
  const looks: string[] = [];
  const named = (name: string, interrupt: boolean) => {
    const stack = stackOf([{ name: "a" }], { name });
    const look: DriftStack["look"] = (progress) => {
      looks.push(name);
      if (interrupt) process.emit("SIGTERM", "SIGTERM");
      return stack.look(progress);
    };
    return { ...stack, look };
  };
  const ended = await drift([named("one", true), named("two", false)]);
  expect(ended.code).toBe(1);
  expect(looks).toEqual(["one"]);
  expect(emulator.requests).toEqual([]);
  expect(ended.report.stacks.map(({ name, compared }) => [name, compared])).toEqual([
    ["one", 1],
    ["two", 0],
  ]);
  expect(ended.stdout).toMatch(/could not see the stack's state: it was interrupted/);
});

test("an interruption ends the listing of an account that waits for its budget", async () => {
  emulator.intercept(({ path }) => path === "/endpoints", {
    status: 429,
    headers: { "retry-after": "600" },
    body: {},
  });
  const running = drift([stackOf([{ name: "a" }])]);
  await vi.waitFor(() => expect(emulator.requests).toHaveLength(1), 10_000);
  // The wait has to have begun.
  await new Promise((resolve) => setTimeout(resolve, 200));
  process.emit("SIGTERM", "SIGTERM");
  const ended = await running;
  expect(emulator.requests).toHaveLength(1);
  expect(ended.stdout).toMatch(/could not see the account's endpoints: it was interrupted/);
});

test("an unmanaged endpoint is told as it is after a repair", async () => {
  const { id } = emulator.seed({ type: "cloud", url: "https://a.example.com" });
  const gone = stackOf([{ name: "a", id: "ep_old", live: "gone" }]);
  const back = stackOf([{ name: "a", id }]);
  let isRepaired = false;
  const now = () => (isRepaired ? back : gone);
  const stack: DriftStack = {
    ...gone,
    state: () => now().state(),
    look: (progress) => now().look(progress),
    plan: () => back.plan(),
    repair: async (urns) => {
      isRepaired = true;
      return back.repair(urns);
    },
  };
  const ended = await drift([stack], "--fix", "--fail-on-unmanaged");
  expect(ended.code, ended.stdout).toBe(0);
  expect(ended.report.accounts.map(({ unmanaged }) => unmanaged)).toEqual([[]]);
});

test("a repair that has only taken what is live into the state is none", async () => {
  const drifted = stackOf([{ name: "a", live: { description: "by hand" } }]);
  const refreshed = stackOf([{ name: "a", inputs: { description: "by hand" } }]);
  let isRefreshed = false;
  const now = () => (isRefreshed ? refreshed : drifted);
  const ended = await drift(
    [
      {
        ...drifted,
        state: () => now().state(),
        look: (progress) => now().look(progress),
        plan: () => refreshed.plan(),
        repair: async (urns) => {
          isRefreshed = true;
          return refreshed.repair(urns);
        },
      },
    ],
    "--fix",
  );
  expect(ended.code).toBe(1);
  expect(ended.stdout).toMatch(/not repaired: a second look did not show it as it should be\. The state may/);
});
