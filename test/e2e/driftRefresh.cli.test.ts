import { describe, expect, test } from "vitest";
import type { Edit, Emulator, RunResult, Step } from "../../sdk/testing";
import { type DriftResult, runDrift } from "../commands/drift/driftRun";
import { emulatedService } from "../emulatedService";
import { Backend, cli } from "../projects";
import { failure, onBothDrivers } from "./setup";

/* `drift` compares without an engine, and must have the same result as `pulumi refresh --preview-only`. */

interface Case {
  inputs?: object;
  /** Inputs that are code. */
  code?: string;
  options?: string;
  /** The edit by somebody else. Default: none. */
  byHand?: Edit | "gone";
  /** The fields that have drifted. Default: none. */
  drifted?: string[];
  /** The fields that a refresh takes into the state, and the next update ignores. */
  ignored?: string[];
}

const policy = (status: number, secret = "") => ({
  on_http_request: [{ actions: [{ type: "deny", config: { status_code: status, secret } }] }],
});
const listOf = (...pairs: [k: number, l: number][]) => ({ list: pairs.map(([k, l]) => ({ k, l })) });
const CASES: Record<string, Case> = {
  url: { byHand: { url: "https://else.example.com" }, drifted: ["url"] },
  added: { byHand: { description: "x" }, drifted: ["description"] },
  removed: { inputs: { description: "ours" }, byHand: { description: undefined }, drifted: ["description"] },
  broken: {
    inputs: { trafficPolicy: policy(404) },
    byHand: { traffic_policy: "{" },
    drifted: ["trafficPolicy"],
  },
  secret: {
    code: `trafficPolicy: pulumi.secret(${JSON.stringify(policy(404, "CANARY-1"))})`,
    byHand: { traffic_policy: JSON.stringify(policy(404, "CANARY-2")) },
    drifted: ["trafficPolicy"],
  },
  chosen: {
    byHand: { bindings: ["internal"], pooling_enabled: true },
    drifted: ["bindings", "poolingEnabled"],
  },
  given: {
    inputs: { metadata: "ours", bindings: ["public"], poolingEnabled: false },
    byHand: { metadata: "x", bindings: ["internal"], pooling_enabled: true },
    drifted: ["bindings", "metadata", "poolingEnabled"],
  },
  gone: { byHand: "gone", drifted: ["deleted"] },
  protected: { options: "protect: true", byHand: { description: "x" }, drifted: ["description"] },
  ignored: {
    options: 'ignoreChanges: ["description"]',
    byHand: { description: "x" },
    ignored: ["description"],
  },
  "ignored-star": {
    inputs: { metadata: listOf([1, 1], [2, 2]) },
    options: 'ignoreChanges: ["metadata.list[*].k"]',
    byHand: { metadata: JSON.stringify(listOf([9, 1], [9, 2])) },
    ignored: ["metadata"],
  },
  "ignored-text": {
    inputs: { metadata: JSON.stringify(listOf([1, 1], [2, 2])) },
    options: 'ignoreChanges: ["metadata.list[*].k"]',
    byHand: { metadata: JSON.stringify(listOf([9, 1], [9, 2])) },
    ignored: ["metadata"],
  },
  "ignored-beside": {
    inputs: { metadata: listOf([1, 1], [2, 2]) },
    options: 'ignoreChanges: ["metadata.list[*].k"]',
    byHand: { metadata: JSON.stringify(listOf([9, 8], [9, 2])) },
    drifted: ["metadata"],
  },
  order: { inputs: { metadata: { x: 1, y: 2 } }, byHand: { metadata: '{"y":2,"x":1}' } },
  replaced: { inputs: { poolingEnabled: true } },
};

const hostOf = (name: string) => `${name}.example.com`;

/** Statements for all cases, once with the dynamic provider, and once with the plugin and another account. */
const programFor = (other: Emulator) => `
const { Provider } = require("pulumi-endpoints");
const provider = new Provider("other", { baseUrl: "${other.baseUrl}", apiKey: "${other.apiKey}", requestsPerWindow: 1000 });
${["mine", "theirs"]
  .flatMap((account) =>
    Object.entries(CASES).map(([name, { inputs = {}, code = "", options = "" }]) => {
      const written = JSON.stringify({ url: `https://${hostOf(name)}`, ...inputs }).slice(1, -1);
      const explicit = account === "theirs" ? "provider," : "";
      return `new CloudEndpoint("${account}-${name}", { ${written}, ${code} }, { ${explicit} ${options} });`;
    }),
  )
  .join("\n")}
`;

/** The engine does not name a field of a dynamic resource in which only a secret changes. */
const UNNAMED = ["(unnamed)"];

/** The fields that a run changes in each resource, or `deleted` for a resource that is deleted or created. */
function ofRun({ steps }: RunResult): Record<string, string[]> {
  const isChange = ({ type, op }: Step) =>
    type.includes("CloudEndpoint") && /^(update|delete|create)$/.test(op);
  return Object.fromEntries(
    steps.filter(isChange).map(({ name, op, diff }) => {
      const fields = diff.length > 0 ? fieldsOf(diff.map((field) => field.slice(1))) : UNNAMED;
      return [name, op === "update" ? fields : ["deleted"]];
    }),
  );
}

function ofDrift({ report }: DriftResult): Record<string, string[]> {
  const all = report.stacks.flatMap(({ drifted }) => drifted);
  return Object.fromEntries(
    all.map(({ name, drift, changes }) => [
      name,
      drift === "deleted" ? ["deleted"] : fieldsOf(changes.map(({ field }) => field)),
    ]),
  );
}

const fieldsOf = (fields: string[]) => [...new Set(fields)].sort();

onBothDrivers("drift and a refresh", (start) => {
  test("agree on each endpoint and field", async () => {
    const other = await emulatedService();
    const stack = await start(programFor(other));
    await stack.up();
    const accounts = { mine: stack.emulator, theirs: other };
    // A replacement whose old endpoint cannot be deleted leaves a second entry.
    for (const account of Object.values(accounts))
      account.intercept(({ method }) => method === "DELETE", { status: 403, body: {} });
    await failure(stack.up({ replace: ["mine-replaced", "theirs-replaced"] }));

    for (const [name, { byHand }] of Object.entries(CASES))
      for (const account of Object.values(accounts)) {
        const { id = "" } = account.endpoints.find(({ url }) => url === `https://${hostOf(name)}`) ?? {};
        if (byHand === "gone") account.remove(id);
        else if (byHand) account.edit(id, byHand);
      }
    const marked = stack.emulator.requests.length;
    const found = await runDrift(stack);
    const expected = (fieldsIn: (one: Case) => string[] | undefined) =>
      Object.fromEntries(
        Object.entries(CASES).flatMap(([name, one]) => {
          const fields = fieldsIn(one);
          return fields ? ["mine", "theirs"].map((account) => [`${account}-${name}`, fields]) : [];
        }),
      );
    const drifted = expected((one) => one.drifted);
    expect(ofDrift(found)).toEqual(drifted);
    const unnamed = { "mine-secret": UNNAMED };
    const refresh = await stack.refresh({ previewOnly: true });
    expect(ofRun(refresh)).toEqual({ ...expected((one) => one.drifted ?? one.ignored), ...unnamed });
    expect(ofRun(await stack.preview({ refresh: true }))).toEqual({ ...drifted, ...unnamed });
    expect(found.report.stacks[0]?.unchecked).toEqual([]);
    const { requests } = stack.emulator;
    expect(requests.slice(marked).filter(({ method }) => method !== "GET")).toEqual([]);
    expect(JSON.stringify(found)).not.toContain("CANARY");
  });
});

describe.skipIf(!cli)("with the Pulumi CLI", () => {
  test("an edit that a refresh writes into the state makes the stack undeployed until an up of the whole program", async () => {
    const emulator = await emulatedService();
    const stack = await new Backend(emulator).project(
      `new CloudEndpoint("dynamic", { url: "https://dynamic.example.com" });
new endpoints.CloudEndpoint("plugged", { url: "https://plugged.example.com" });`,
    );
    await stack.up();
    const text =
      /a refresh since the last `up` may have written edits into the state\n[\s\S]* {4}pulumi preview --stack test\n/;
    const [clean, undeployed] = [{ code: 0 }, { code: 8, stdout: expect.stringMatching(text) }];
    await stack.pulumi("refresh", "--yes");
    expect(await stack.command("drift")).toMatchObject(clean);

    const [edited, other] = emulator.endpoints;
    emulator.edit(edited?.id ?? "", { description: "by hand" });
    await stack.pulumi("refresh", "--yes");
    await stack.pulumi("refresh", "--yes");
    expect(await stack.command("drift")).toMatchObject(undeployed);
    const { resources } = await stack.state();
    const urnOf = (wanted?: string) => resources.find(({ id }) => id === wanted)?.urn ?? "";
    await stack.up("--target", urnOf(other?.id));
    await stack.up("--exclude", urnOf(edited?.id));
    await stack.up("--target", urnOf(other?.id), "--refresh");
    expect(await stack.command("drift")).toMatchObject(undeployed);
    await stack.up();
    expect(await stack.command("drift")).toMatchObject(clean);
    expect(emulator.endpoints.map(({ description }) => description || undefined)).toEqual([
      undefined,
      undefined,
    ]);

    emulator.remove(edited?.id ?? "");
    await stack.pulumi("refresh", "--yes");
    expect(await stack.command("drift")).toMatchObject(undeployed);
    await stack.up();
    expect(await stack.command("drift")).toMatchObject(clean);
  });
});
