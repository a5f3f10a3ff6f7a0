import { expect, onTestFinished, test } from "vitest";
import { type Edit, Emulator } from "../../sdk/testing";
import { drift } from "../commands/drift/driftRun";
import { endpoint, idOf, policy } from "./driftPrograms";
import { edit, onKit, PLUGIN } from "./setup";

/*
 * What `drift` finds and repairs, with the engine that repairs it. `driftCli.slow.test.ts` has the Pulumi CLI, and
 * `test/commands/drift` the report.
 */

/** A change as the report shows it. */
type Change = [path: string, kind: string, expected: unknown, live: unknown];

interface Case {
  /** The statement that declares the endpoint. */
  deployed: string;
  /** The statement at the time of the repair. Default: the deployed one. */
  now?: string;
  byHand: Edit | "gone";
  changes?: Change[];
  /** Why it is not repaired. Default: it is. */
  left?: string;
}

const CONFIG = "trafficPolicy.on_http_request[0].actions[0].config";
const DESCRIBED: Pick<Case, "byHand" | "changes"> = {
  byHand: { description: "by hand" },
  changes: [["description", "added", undefined, "by hand"]],
};
const NO_MORE =
  "the program does not have this endpoint any more, or has it under the other provider (endpoints:provider), and --fix deploys nothing new";
const ADOPTED = "so it cannot be created again: remove `adopt`, then run `pulumi up --refresh`";
const internal = (name: string, options = "{}", type = "CloudEndpoint") =>
  endpoint(name, { url: `https://${name}.internal` }, options, type);
const secret = `new CloudEndpoint("secret", { url: "https://secret.example.com", trafficPolicy: pulumi.secret(${JSON.stringify(policy(404, "CANARY-1"))}) });`;

const CASES: Record<string, Case> = {
  "adopted-any": {
    deployed: endpoint("adopted-any", { adopt: true }),
    byHand: "gone",
    left: "the program would adopt any endpoint that is on this URL now: remove `adopt`, then run `pulumi up --refresh`",
  },
  "adopted-dynamic": {
    deployed: endpoint("adopted-dynamic", { adopt: "ep_dynamic" }),
    byHand: "gone",
    left: `it was deployed with adopt: "ep_dynamic", ${ADOPTED}`,
  },
  "adopted-plugin": {
    deployed: endpoint("adopted-plugin", { adopt: "ep_plugin" }, "{}", "PluginEndpoint"),
    byHand: "gone",
    left: `it was deployed with adopt: "ep_plugin", ${ADOPTED}`,
  },
  bindings: {
    deployed: endpoint("bindings", { bindings: ["public"] }),
    byHand: { bindings: ["internal"] },
    changes: [["bindings", "changed", ["public"], ["internal"]]],
  },
  changed: {
    deployed: endpoint("changed"),
    now: endpoint("changed", { metadata: "new" }),
    ...DESCRIBED,
    left: "the program differs from the state, and --fix deploys nothing new",
  },
  chosen: {
    deployed: internal("chosen"),
    byHand: { bindings: ["public"] },
    changes: [["bindings", "changed", ["internal"], ["public"]]],
  },
  "chosen-plugin": {
    deployed: internal("chosen-plugin", "{ deleteBeforeReplace: true }", "PluginEndpoint"),
    byHand: {
      pooling_enabled: true,
      bindings: ["public"],
      traffic_policy: JSON.stringify(policy(403, "CANARY")),
    },
    changes: [
      ["bindings", "changed", ["internal"], ["public"]],
      ["poolingEnabled", "changed", false, true],
      [`${CONFIG}.secret`, "added", undefined, "[secret]"],
      [`${CONFIG}.status_code`, "changed", 404, 403],
    ],
  },
  deleted: { deployed: endpoint("deleted"), byHand: "gone" },
  described: {
    deployed: endpoint("described", { description: "front door" }),
    byHand: { description: "by hand" },
    changes: [["description", "changed", "front door", "by hand"]],
  },
  metadata: {
    deployed: endpoint("metadata", { metadata: { team: "shop", tier: 1 } }),
    byHand: { metadata: '{"team":"else"}' },
    changes: [
      ["metadata.team", "changed", "shop", "else"],
      ["metadata.tier", "removed", 1, undefined],
    ],
  },
  policy: {
    deployed: endpoint("policy"),
    byHand: { traffic_policy: JSON.stringify(policy(403)) },
    changes: [[`${CONFIG}.status_code`, "changed", 404, 403]],
  },
  pooled: {
    deployed: endpoint("pooled", { poolingEnabled: false }),
    byHand: { pooling_enabled: true },
    changes: [["poolingEnabled", "changed", false, true]],
  },
  removed: { deployed: endpoint("removed"), now: "", ...DESCRIBED, left: NO_MORE },
  renamed: {
    deployed: endpoint("renamed"),
    now: endpoint("renamed", {}, '{ aliases: [{ name: "renamed" }] }').replace('"renamed"', '"name"'),
    ...DESCRIBED,
    left: NO_MORE,
  },
  secret: {
    deployed: secret,
    byHand: { traffic_policy: JSON.stringify(policy(403, "CANARY-2")) },
    changes: [
      [`${CONFIG}.secret`, "changed", "[secret]", "[secret]"],
      [`${CONFIG}.status_code`, "changed", "[secret]", "[secret]"],
    ],
  },
  undescribed: { deployed: endpoint("undescribed"), ...DESCRIBED },
  url: {
    deployed: endpoint("url"),
    byHand: { url: "https://elsewhere.example.com" },
    changes: [["url", "changed", "https://url.example.com", "https://elsewhere.example.com"]],
  },
};
const ALL = Object.entries(CASES);
const FIXED = ALL.filter(([, { left }]) => left === undefined).map(([name]) => name);

/** Endpoints without drift. The program also changes one of them. */
const UNCHANGED = [endpoint("hidden"), endpoint("kept")];
const changedToo = [endpoint("hidden"), endpoint("kept", { metadata: "new" })];

onKit("drift", (start) => {
  test("of each kind is found and repaired, but nothing new is deployed, and nothing of others adopted", async () => {
    const emulator = await Emulator.start();
    onTestFinished(() => emulator.close());
    for (const provider of ["dynamic", "plugin"])
      emulator.seed({ type: "cloud", id: `ep_${provider}`, url: `https://adopted-${provider}.example.com` });
    const program = (statements: string[]) => [PLUGIN, ...statements].join("\n");
    const deployed = [...ALL.map(([, one]) => one.deployed), ...UNCHANGED];
    const stack = await start(program(deployed), { emulator });
    await stack.up();
    const idByName = new Map(
      ALL.map(([name]) => {
        const url = new RegExp(`^https://${name}\\.(?:example\\.com|internal)$`);
        return [name, emulator.endpoints.find((one) => url.test(one.url ?? ""))?.id ?? ""];
      }),
    );
    const good = emulator.endpoints;
    for (const [name, { byHand }] of ALL) {
      const id = idByName.get(name) ?? "";
      if (byHand === "gone") emulator.remove(id);
      else emulator.edit(id, byHand);
    }
    const other = emulator.seed({
      type: "cloud",
      url: "https://adopted-any.example.com",
      metadata: "theirs",
    });

    // One cannot be checked: the list lacks it, and a read by its id is refused.
    const hidden = idOf(emulator, "hidden");
    const withoutIt = (real: object) => ({
      ...real,
      endpoints: Object(real).endpoints.filter(({ id }: { id: string }) => id !== hidden),
    });
    emulator.intercept("list", { afterCommit: true, body: withoutIt });
    emulator.intercept(({ path }) => path.endsWith(hidden), {
      status: 401,
      body: { error_code: "ERR_NGROK_9" },
    });
    const unchecked = await drift(stack);
    expect(unchecked.code, unchecked.stdout).toBe(3);
    expect(unchecked.report.stacks[0]?.drifted).toHaveLength(ALL.length);
    expect(unchecked.report.stacks[0]?.unchecked).toMatchObject([
      { what: `hidden (${hidden})`, authentication: true },
    ]);

    edit(stack, program([...ALL.map(([, one]) => one.now ?? one.deployed), ...changedToo]));
    /** Of those that are left. */
    const states = async () =>
      ((await stack.exportState()).deployment.resources ?? []).flatMap(({ urn, id, inputs, outputs }) =>
        CASES[urn.split("::").at(-1) ?? ""]?.left === undefined ? [] : [{ urn, id, inputs, outputs }],
      );
    const before = await states();
    const marked = emulator.requests.length;
    const found = await drift(stack);
    expect(found.code).toBe(7);
    const writes = () =>
      emulator.requests.slice(marked).flatMap(({ method, path, body }) => {
        const { url = "" } = Object(body);
        return method === "GET" ? [] : [`${method} ${method === "POST" ? url : path.split("/").at(-1)}`];
      });
    expect(writes()).toEqual([]);
    const fixed = await drift(stack, { args: ["--fix"] });
    expect([fixed.code, fixed.report.outcome], fixed.stdout).toEqual([1, "unrepaired"]);
    expect(JSON.stringify([found, fixed])).not.toContain("CANARY");
    const reported = Object.fromEntries(
      (fixed.report.stacks[0]?.drifted ?? []).map(({ name, drift, changes, repair }) => [
        name,
        {
          drift,
          changes: changes.map(({ path, kind, expected, live }) => [path, kind, expected, live]),
          left: repair?.done ? undefined : repair?.reason,
        },
      ]),
    );
    expect(reported).toEqual(
      Object.fromEntries(
        ALL.map(([name, { byHand, changes = [], left }]) => [
          name,
          {
            drift: byHand === "gone" ? "deleted" : "changed",
            changes,
            left: left && expect.stringContaining(left),
          },
        ]),
      ),
    );
    const expected = FIXED.map((name) =>
      name === "deleted" ? "POST https://deleted.example.com" : `PATCH ${idByName.get(name)}`,
    );
    expect(writes().sort()).toEqual(expected.sort());
    const contentOf = ({ url, description, metadata, traffic_policy, bindings, pooling_enabled }: Edit) => ({
      ...{ url, description, metadata, traffic_policy, bindings, pooling_enabled },
    });
    for (const name of FIXED)
      expect(emulator.endpoints.map(contentOf)).toContainEqual(
        contentOf(good.find(({ id }) => id === idByName.get(name)) ?? {}),
      );
    expect(emulator.endpoints).toContainEqual(other);
    expect(new Set(await states())).toEqual(new Set(before));

    // The next check still reports those that were left, until their remedies.
    const next = await drift(stack);
    expect(next.report.stacks[0]?.drifted.map(({ name }) => name)).toEqual(
      ALL.flatMap(([name, { left }]) => (left === undefined ? [] : [name])),
    );
    emulator.remove(other.id);
    edit(stack, program(deployed.map((statement) => statement.replace(/,"adopt":[^},]+/, ""))));
    await stack.up({ refresh: true });
    const last = await drift(stack);
    expect(last.code, last.stdout).toBe(0);
    await stack.preview({ expectNoChanges: true });
  });
});

onKit("drift of pooling on a service that never changes it", (start) => {
  test("is not repaired by --fix, which says what to do, and then a replacement repairs it", async () => {
    const options = "{ deleteBeforeReplace: true }";
    const all = [endpoint("a", {}, options), endpoint("b", {}, options, "PluginEndpoint")];
    const stack = await start([PLUGIN, ...all].join("\n"));
    await stack.up();
    stack.emulator.behave({ fixedUrlAndPooling: true });
    for (const { id } of stack.emulator.endpoints) stack.emulator.edit(id, { pooling_enabled: true });

    const fixed = await drift(stack, { args: ["--fix"] });
    expect(fixed.code, fixed.stdout).toBe(1);
    const reasons = fixed.report.stacks[0]?.drifted.map(({ repair }) => repair?.reason);
    expect(reasons).toEqual(
      Array(2).fill(
        expect.stringMatching(
          /give the program the live value, or replace the endpoint: `pulumi up --replace`.*only `pulumi preview` shows this drift$/s,
        ),
      ),
    );
    await stack.up({ replace: ["a", "b"] });
    expect(stack.emulator.endpoints).toMatchObject(Array(2).fill({ pooling_enabled: false }));
    expect((await drift(stack)).code).toBe(0);
    await stack.preview({ expectNoChanges: true });
  });
});
