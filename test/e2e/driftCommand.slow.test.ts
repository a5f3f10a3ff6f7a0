import { expect, test } from "vitest";
import type { Edit, Emulator } from "../../sdk/testing";
import { drift } from "../commands/drift/driftRun";
import { endpoint, idOf, policy } from "./driftPrograms";
import { onKit } from "./setup";

/*
 * The command on the test kit's engine, with the dynamic provider. `driftRepair.slow.test.ts` has the plugin, and
 * `driftCli.slow.test.ts` the Pulumi CLI.
 */

/** Endpoints, and an edit of each. The edits cover every field. */
const DRIFTS: [name: string, endpoint: string, change: Edit][] = [
  ["a-url", endpoint("a-url"), { url: "https://elsewhere.example.com" }],
  ["b-described", endpoint("b-described", { description: "front door" }), { description: "by hand" }],
  ["c-undescribed", endpoint("c-undescribed"), { description: "by hand" }],
  [
    "d-metadata",
    endpoint("d-metadata", { metadata: { team: "shop", tier: 1 } }),
    { metadata: '{"team":"else"}' },
  ],
  ["e-policy", endpoint("e-policy"), { traffic_policy: JSON.stringify(policy(403)) }],
  ["f-bindings", endpoint("f-bindings", { bindings: ["public"] }), { bindings: ["internal"] }],
  ["g-pooled", endpoint("g-pooled", { poolingEnabled: false }), { pooling_enabled: true }],
  [
    "h-secret",
    `new CloudEndpoint("h-secret", { url: "https://h-secret.example.com", trafficPolicy: pulumi.secret(${JSON.stringify(policy(404, "CANARY-1"))}) });`,
    { traffic_policy: JSON.stringify(policy(403, "CANARY-2")) },
  ],
];
const PROGRAM = [...DRIFTS.map(([, text]) => text), endpoint("i-deleted"), endpoint("j-kept")].join("\n");

onKit("drift", (start) => {
  test("is reported for each field in every format, and repaired for managed endpoints", async () => {
    const stack = await start(PROGRAM);
    await stack.up();
    const { emulator } = stack;
    const contentOf = ({ id: _, uri, created_at, updated_at, ...content }: Emulator["endpoints"][number]) =>
      content;
    const good = emulator.endpoints.map(contentOf);
    for (const [name, , change] of DRIFTS) emulator.edit(idOf(emulator, name), change);
    emulator.remove(idOf(emulator, "i-deleted"));
    const other = emulator.seed({
      type: "cloud",
      url: "https://other.example.com",
      description: "\u202e<b>##vso[task.complete]",
    });
    emulator.seed({ type: "edge", url: "https://edge.example.com" });

    const fixed = await drift(stack, { args: ["--fix"] });
    expect(fixed.code, fixed.stdout).toBe(0);
    expect(fixed.report.outcome).toBe("repaired");
    expect(fixed.stdout).toContain("9 repaired");
    const status = "trafficPolicy.on_http_request[0].actions[0].config.status_code";
    const secret = "trafficPolicy.on_http_request[0].actions[0].config.secret";
    const reported = fixed.report.stacks.flatMap(({ drifted }) =>
      drifted.map(({ name, drift, changes }) => ({
        name,
        drift,
        changes: changes.map(({ path, kind, expected, live }) => [path, kind, expected, live]),
      })),
    );
    expect(reported).toEqual([
      {
        name: "a-url",
        drift: "changed",
        changes: [["url", "changed", "https://a-url.example.com", "https://elsewhere.example.com"]],
      },
      {
        name: "b-described",
        drift: "changed",
        changes: [["description", "changed", "front door", "by hand"]],
      },
      {
        name: "c-undescribed",
        drift: "changed",
        changes: [["description", "added", undefined, "by hand"]],
      },
      {
        name: "d-metadata",
        drift: "changed",
        changes: [
          ["metadata.team", "changed", "shop", "else"],
          ["metadata.tier", "removed", 1, undefined],
        ],
      },
      { name: "e-policy", drift: "changed", changes: [[status, "changed", 404, 403]] },
      {
        name: "f-bindings",
        drift: "changed",
        changes: [["bindings", "changed", ["public"], ["internal"]]],
      },
      { name: "g-pooled", drift: "changed", changes: [["poolingEnabled", "changed", false, true]] },
      {
        name: "h-secret",
        drift: "changed",
        changes: [
          [secret, "changed", "[secret]", "[secret]"],
          [status, "changed", "[secret]", "[secret]"],
        ],
      },
      { name: "i-deleted", drift: "deleted", changes: [] },
    ]);
    expect(fixed.report.accounts).toMatchObject([
      {
        service: emulator.baseUrl,
        stacks: ["test"],
        endpoints: 11,
        unmanaged: [{ id: other.id }],
        unchecked: [],
      },
    ]);
    expect(fixed.report.accounts[0]?.unmanaged[0]?.description).toContain("##vso[task.complete]");
    for (const form of [fixed.stdout, fixed.json]) expect(form).not.toContain("##vso[");
    const all = JSON.stringify(fixed);
    for (const canary of ["CANARY", emulator.apiKey]) expect(all).not.toContain(canary);
    for (const form of [fixed.stdout, fixed.page.replaceAll("<wbr>", "")]) {
      for (const [name] of DRIFTS) expect(form).toContain(name);
      for (const text of [status, "i-deleted", "by hand", "9 of 10 cloud endpoints drifted", "1 unmanaged"])
        expect(form).toContain(text);
      expect(form).not.toContain("\u202e");
    }

    const live = emulator.endpoints.filter(({ type, id }) => type === "cloud" && id !== other.id);
    const byUrl = (a: { url?: unknown }, b: { url?: unknown }) => (String(a.url) < String(b.url) ? -1 : 1);
    expect(live.map(contentOf).sort(byUrl)).toEqual(good.sort(byUrl));
    expect(emulator.endpoints).toContainEqual(other);
  });
});
