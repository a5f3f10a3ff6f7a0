import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { UserError } from "../../../provider/api/apiErrors";
import type { DriftStack } from "../../../sdk/commands/drift/stack";
import { PulumiFailed } from "../../../sdk/pulumi";
import { Emulator, type ExportedResource } from "../../../sdk/testing";
import { drift } from "./driftRun";
import { changesOf, emulator, fakeStack, other, secret, stateWith, TYPE, urnOf } from "./stacks";

test("ignored changes, and changes of an endpoint that the program only reads, are not drift", async () => {
  const ended = await drift([
    fakeStack([
      { name: "a", live: { description: "by hand" }, more: { ignoreChanges: ["description"] } },
      {
        name: "b",
        inputs: { metadata: { x: 1, y: 2 } },
        live: { metadata: { x: 3, y: 4 }, description: "by hand" },
        more: { ignoreChanges: ["metadata.x"] },
      },
      { name: "c", live: "gone", more: { external: true } },
      {
        name: "d",
        inputs: {
          metadata: {
            all: { x: 1, y: 2 },
            list: [
              { k: 1, l: 1 },
              { k: 2, l: 1 },
            ],
          },
        },
        live: {
          metadata: {
            all: { x: 3, y: 4 },
            list: [
              { k: 3, l: 2 },
              { k: 4, l: 1 },
            ],
          },
        },
        more: { ignoreChanges: ["metadata.all[*]", "metadata.list[*].k"] },
      },
    ]),
  ]);
  expect(ended.report.stacks[0]?.endpoints).toBe(3);
  expect(changesOf(ended)).toEqual([
    ["description", undefined, "by hand"],
    ["metadata.y", 2, 4],
    ["metadata.list[0].l", 1, 2],
  ]);
});

test("a change in a secret policy is reported with its places, also if the list omits the field", async () => {
  const policy = (status: number) => ({
    on_http_request: [{ actions: [{ type: "deny", config: { status_code: status } }] }],
  });
  const inputs = { trafficPolicy: secret(policy(404)) };
  const stacks = [fakeStack([{ name: "a", inputs, live: { trafficPolicy: policy(403) } }])];
  const place = "trafficPolicy.on_http_request[0].actions[0].config.status_code";
  expect(changesOf(await drift(stacks))).toEqual([[place, "[secret]", "[secret]"]]);
  const body = { endpoints: [{ id: "ep_a", type: "cloud", url: "https://a.example.com" }] };
  emulator.intercept(({ path }) => path === "/endpoints", { status: 200, body });
  expect(changesOf(await drift(stacks))).toEqual([[place, "[secret]", "[secret]"]]);
});

test("an endpoint is deleted only if the account is proven, its stack still has it, and the state is no later version's", async () => {
  const of = (outputs: object) => ({
    outputs: { type: "cloud", url: "https://a.example.com", createdAt: "2026-01-01T00:00:00Z", ...outputs },
  });
  const gone = (more: object = {}) => fakeStack([{ name: "a", live: "gone", more }]);
  let reads = 0;
  const leaving = { ...gone(), state: async () => (++reads === 1 ? gone().state() : stateWith([])) };
  const found = async (stack: DriftStack) => {
    const [report] = (await drift([stack])).report.stacks;
    return [report?.drifted.map((each) => each.drift), report?.unchecked.map(({ reason }) => reason)];
  };
  expect(await found(gone())).toEqual([["deleted"], []]);
  expect(await found(gone(of({})))).toEqual([[], [expect.stringContaining("ENDPOINTS_ACCEPT_ACCOUNT")]]);
  expect(await found(gone(of({ __version: "99.0.0" })))).toEqual([
    [],
    [expect.stringMatching(/^version 99/)],
  ]);
  expect(await found(leaving)).toEqual([[], [expect.stringContaining("changed it during the check")]]);
});

test("an endpoint that an up creates beside the check is not unmanaged", async () => {
  let reads = 0;
  const after = fakeStack([{ name: "new" }]);
  const state = async () => (++reads === 1 ? stateWith([]) : after.state());
  expect((await drift([{ ...after, state }])).report.accounts).toMatchObject([{ unmanaged: [] }]);
});

test("each account, with or without an explicit provider, is reported once, with its unmanaged endpoints", async () => {
  const third = await Emulator.start();
  try {
    const [mine, theirs, third1] = [emulator, other, third].map((on) => on.seed({ type: "cloud" }).id);
    const loose = other.seed({ type: "cloud", url: "https://loose.example.com" });
    const provider: ExportedResource = {
      // The engine names its implicit provider default, as this project is named.
      urn: "urn:pulumi:far::default::pulumi:providers:endpoints::second",
      type: "pulumi:providers:endpoints",
      custom: true,
      id: "1",
      inputs: { baseUrl: third.baseUrl, apiKey: secret(third.apiKey) },
    };
    const onThird = {
      urn: "urn:pulumi:far::default::endpoints:index:CloudEndpoint::t",
      type: "endpoints:index:CloudEndpoint",
      provider: `${provider.urn}::1`,
    };
    const third2 = third.seed({ type: "cloud", url: "https://third.example.com" });
    const ended = await drift([
      fakeStack([{ name: "a", id: mine ?? "" }]),
      fakeStack([{ name: "b", id: theirs ?? "" }], { name: "dev", on: other }),
      fakeStack([{ name: "t", id: third1 ?? "", more: onThird }], {
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

test("an account is listed once for all its stacks", async () => {
  const names = ["prod", "dev", "test"];
  const stacks = names.map((name) => {
    const { id, url = "" } = emulator.seed({ type: "cloud" });
    return fakeStack([{ name, id, inputs: { url } }], { name });
  });
  const ended = await drift(stacks);
  expect(ended.report.accounts).toMatchObject([{ stacks: names, endpoints: 3, unmanaged: [] }]);
  expect(emulator.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /endpoints"]);
});

test("if a stack's state cannot be read, the report gives the reason and counts no endpoint as unmanaged", async () => {
  emulator.seed({ type: "cloud" });
  const lost = fakeStack([], {
    name: "lost",
    state: async () => {
      throw new UserError("no stack named 'lost' found");
    },
  });
  const ended = await drift([fakeStack([{ name: "a" }]), lost]);
  expect(ended.code).toBe(1);
  expect(ended.report.accounts[0]?.unmanaged).toEqual([]);
  expect(ended.stdout).toMatch(/unchecked the stack's state: no stack named 'lost' found/);
  expect(ended.stdout).toMatch(/unchecked which endpoints are unmanaged: a stack's state could not be read/);
});

test.each([
  ["its last update failed", { lastUpdateFailed: async () => true }],
  [
    "1 operation of a killed run pending",
    { state: async () => stateWith([], [{ type: "creating", resource: { urn: "", type: "" } }]) },
  ],
])("a stack without drift is reported as undeployed: %s", async (reason, more) => {
  const ended = await drift([fakeStack([{ name: "a" }], more)]);
  expect(ended.code).toBe(8);
  expect(ended.report).toMatchObject({ outcome: "undeployed", stacks: [{ undeployed: reason }] });
  for (const form of [ended.stdout, ended.page]) {
    expect(form).not.toMatch(/no drift/i);
    expect(form).toContain(reason);
    expect(form).toContain("1 stack undeployed");
  }
});

test("an undeployed stack with drift has the exit code of drift, and both are reported", async () => {
  const made = { name: "a", live: { description: "by hand" } };
  const ended = await drift([fakeStack([made], { lastUpdateFailed: async () => true })]);
  expect(ended.code).toBe(7);
  expect(ended.stdout).toMatch(/undeployed its last update failed\. [\s\S]*1 stack undeployed/);
});

test("a backend that requires a login gives the exit code 3", async () => {
  const state = async () => {
    throw new PulumiFailed(3, { stdout: "", stderr: "error: please log in", run: undefined });
  };
  expect((await drift([fakeStack([], { state })])).code).toBe(3);
});

test("if no endpoint could be compared, no form of the report claims that there is no drift", async () => {
  const config = async () => {
    throw new UserError("the passphrase must be set");
  };
  const ended = await drift([fakeStack([{ name: "a" }, { name: "b" }], { config })]);
  expect(ended.code).toBe(1);
  expect(ended.report.stacks).toMatchObject([{ project: "shop", endpoints: 2, compared: 0 }]);
  for (const form of [ended.stdout, ended.page]) {
    expect(form).toMatch(/0 of 2 cloud endpoints compared/);
    expect(form).not.toMatch(/no drift/i);
  }
});

test("after an interruption, nothing more is read, no request is sent, and the rest is reported as not checked", async () => {
  const read: string[] = [];
  const names = ["one", "two", "three", "four", "five", "six"];
  const stacks = names.map((name) => {
    const stack = fakeStack([{ name }], { name });
    const state: DriftStack["state"] = () => {
      read.push(name);
      if (name === "four") process.emit("SIGTERM", "SIGTERM");
      return stack.state();
    };
    return { ...stack, state };
  });
  const ended = await drift(stacks);
  expect(ended.code).toBe(1);
  expect(read).toEqual(names.slice(0, 4));
  expect(emulator.requests).toEqual([]);
  expect(ended.report.stacks.map(({ compared }) => compared)).toEqual([0, 0, 0, 0, 0, 0]);
  expect(ended.stdout).toMatch(/six.*: it was interrupted|6 stacks: .*it was interrupted/);
});

test("an interruption ends a listing that waits for the rate limit", async () => {
  emulator.intercept(({ path }) => path === "/endpoints", {
    status: 429,
    headers: { "retry-after": "300" },
    body: {},
  });
  const running = drift([fakeStack([{ name: "a" }])]);
  await vi.waitFor(() => expect(emulator.requests).toHaveLength(1), 10_000);
  // Lets the wait begin.
  await new Promise((resolve) => setTimeout(resolve, 200));
  process.emit("SIGTERM", "SIGTERM");
  const ended = await running;
  expect(emulator.requests).toHaveLength(1);
  expect(ended.stdout).toMatch(/unchecked the account's endpoints: it was interrupted/);
});

test("an endpoint that two stacks manage counts as drift, and the report names the remedy", async () => {
  const { id } = emulator.seed({ type: "cloud", url: "https://a.example.com" });
  const inputs = { url: "https://a.example.com" };
  const ended = await drift([
    fakeStack([{ name: "front", id, inputs }], { name: "prod" }),
    fakeStack([{ name: "door", id, inputs }], { name: "dev" }),
  ]);
  expect(ended.report.shared).toEqual([
    {
      id,
      resources: [
        { stack: "prod", name: "front", urn: urnOf("front") },
        { stack: "dev", name: "door", urn: urnOf("door") },
      ],
    },
  ]);
  expect(ended.code).toBe(7);
  expect(ended.stdout).toMatch(
    new RegExp(`${id} belongs to front \\(stack prod\\) and door \\(stack dev\\).*pulumi state delete`),
  );
});

test("an endpoint with two entries in one state is reported with both URNs and the commands that end it", async () => {
  const url = "https://a.example.com";
  const { id } = emulator.seed({ type: "cloud", url });
  const urns = [urnOf("front"), urnOf("front", `shop:index:Shop$${TYPE}`)];
  const entry = { type: TYPE, custom: true, id, inputs: { url }, outputs: { type: "cloud", url } };
  const stack = fakeStack([{ name: "front", id, inputs: { url } }], {
    extra: [{ ...entry, urn: urns[1] ?? "" }],
  });
  const ended = await drift([stack]);
  expect(ended.code).toBe(7);
  expect(ended.report.shared.map(({ resources }) => resources.map(({ urn }) => urn).sort())).toEqual([urns]);
  for (const form of [ended.stdout, ended.page.replaceAll("&#39;", "'")]) {
    for (const urn of urns) expect(form).toContain(urn);
    for (const urn of urns) expect(form).toContain(`pulumi state delete '${urn}' --stack prod`);
    expect(form).toMatch(/Then take that resource out of the program/);
  }
});

test("an endpoint that no state has is named with its resource and age, and with a line that deletes it", async () => {
  const seed = (project: string, stack: string) => {
    const urn = `urn:pulumi:${stack}::${project}::${TYPE}::front`;
    const owner = { namespace: "platform", urn, nonce: "00", time: "" };
    const metadata = JSON.stringify({ "pulumi-endpoints": owner });
    const created_at = new Date(Date.now() - 50 * 3_600_000).toISOString();
    return emulator.seed({
      type: "cloud",
      url: `https://${project}-${stack}.example.com`,
      metadata,
      created_at,
    });
  };
  const { id, url = "" } = seed("shop", "kept");
  const lost = [seed("shop", "prod"), seed("shop", "old"), seed("blog", "prod")];
  const ended = await drift([fakeStack([{ name: "front", id, inputs: { url } }])]);
  const unmanaged = ended.report.accounts.flatMap((account) => account.unmanaged);
  expect(unmanaged.map(({ url, createdFor }) => [url, createdFor]).sort()).toEqual([
    ["https://blog-prod.example.com", "'front' of the stack blog/prod (platform)"],
    ["https://shop-old.example.com", "'front' of the stack shop/old (platform)"],
    ["https://shop-prod.example.com", "'front' of the stack shop/prod (platform)"],
  ]);
  const page = ended.page.replaceAll("&#34;", '"').replaceAll("&#39;", "'");
  for (const form of [ended.stdout, page]) {
    for (const { createdFor = "", deleteCommand = "" } of unmanaged) {
      expect(form).toContain(`for ${createdFor}`);
      expect(form).toContain(deleteCommand);
    }
    expect(form.match(/2 days ago/g)).toHaveLength(3);
    expect(
      form.match(/First check that no other stack has the endpoint, in this backend or in any other/g),
    ).toHaveLength(1);
    expect(form).toContain('adopt: "ep_…" for one `pulumi up`');
  }
  expect(ended.stdout + ended.page).not.toContain(emulator.apiKey);
  expect(emulator.requests.map(({ method }) => method)).toEqual(["GET"]);

  const env = { ...process.env, ENDPOINTS_API_KEY: emulator.apiKey };
  const script = unmanaged.map(({ deleteCommand = "false" }) => deleteCommand).join(" && ");
  await promisify(execFile)("sh", ["-c", script], { env });
  expect(emulator.endpoints.map((live) => live.id)).toEqual([id]);
  expect(emulator.requests.filter(({ method }) => method === "DELETE")).toHaveLength(lost.length);
});

test.each([
  [{}, "Service-Version: 2"],
  [{ "endpoints:versionHeader": "X-Version" }, "X-Version: 2"],
])(
  "the line that deletes an endpoint has the version header of the settings %j",
  async (settings, header) => {
    const { id } = emulator.seed({ type: "cloud" });
    const body = { endpoints: emulator.endpoints };
    emulator.intercept(({ path }) => path === "/endpoints", { status: 200, body });
    const all: Record<string, string> = {
      ...settings,
      "endpoints:baseUrl": emulator.baseUrl,
      "endpoints:apiKey": emulator.apiKey,
    };
    const { report } = await drift([fakeStack([], { config: async () => (key) => all[key] })]);
    expect(report.accounts[0]?.unmanaged[0]?.deleteCommand).toBe(
      `curl --fail-with-body -X DELETE -H "Authorization: Bearer $ENDPOINTS_API_KEY" -H '${header}' ${emulator.baseUrl}/endpoints/${id}`,
    );
  },
);
