import { afterEach, beforeEach } from "vitest";
import { SECRET, SIGNATURE } from "../../../../provider/endpoint/secrets";
import type { DriftStack, PulumiRun, PulumiStep } from "../../../../sdk/commands/drift/stack";
import { parseState } from "../../../../sdk/commands/userProject";
import { Emulator, type ExportedResource } from "../../../../sdk/testing";
import type { drift } from "./driftRun";

/** Two accounts of the service, new for each test. */
export let emulator: Emulator;
export let other: Emulator;
beforeEach(async () => {
  [emulator, other] = await Promise.all([Emulator.start(), Emulator.start()]);
});
afterEach(() => Promise.all([emulator.close(), other.close()]));

export const TYPE = "pulumi-nodejs:dynamic/endpoints:CloudEndpoint";
export const urnOf = (name: string, type = TYPE) => `urn:pulumi:prod::shop::${type}::${name}`;
export const secret = (value: unknown) => ({ [SIGNATURE]: SECRET, plaintext: JSON.stringify(value) });

interface FakeEndpoint {
  name: string;
  id?: string;
  inputs?: Record<string, unknown>;
  /** The fields that a refresh finds changed. Default: nothing changed. `unread`: the refresh does not read the endpoint. */
  live?: Record<string, unknown> | "gone" | "unread";
  more?: Partial<ExportedResource>;
}

/** A stack whose state and steps are made up. Its account is an emulator. */
export function fakeStack(
  endpoints: FakeEndpoint[],
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
  const steps = endpoints.flatMap(({ name, id = `ep_${name}`, inputs, live }): PulumiStep[] => {
    const about = { urn: urnOf(name), id };
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
  const run: PulumiRun = { ok: true, steps, diagnostics: [] };
  return {
    name: "prod",
    project: "shop",
    config: async () => (key) => settings[key],
    state: async () => parseState({ deployment: { resources: [...extra, ...all] } }),
    lastUpdateFailed: async () => false,
    refreshPreview: async () => run,
    preview: async () => run,
    repairPreview: async () => run,
    repair: async () => run,
    ...own,
  };
}

export const changesOf = (ended: Awaited<ReturnType<typeof drift>>) =>
  ended.report.stacks.flatMap(({ drifted }) =>
    drifted.flatMap(({ changes }) => changes.map(({ path, expected, live }) => [path, expected, live])),
  );
