import { afterEach, beforeEach } from "vitest";
import { isMapping } from "../../../provider/data/index";
import { accountFingerprint } from "../../../provider/endpoint/state";
import { SECRET, SIGNATURE } from "../../../provider/pulumi/sentinels";
import type { DriftStack } from "../../../sdk/commands/drift/stack";
import { type ExportedResource, parseState } from "../../../sdk/pulumi-cli/index";
import { Emulator } from "../../../sdk/testing";

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
  /** The fields that differ on the service, or `gone` if the service lacks the endpoint. Default: none. */
  live?: Record<string, unknown> | "gone";
  more?: Partial<ExportedResource>;
}

const CREATED = "2026-01-01T00:00:00Z";

const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
const plain = (value: unknown) =>
  isMapping(value) && value[SIGNATURE] === SECRET ? JSON.parse(String(value["plaintext"])) : value;

/** The inputs in the form of the service. */
function wireOf({ url, trafficPolicy, metadata, poolingEnabled, ...others }: Record<string, unknown>) {
  return {
    ...others,
    url: String(url),
    ...(trafficPolicy !== undefined && { traffic_policy: textOf(trafficPolicy) }),
    ...(metadata !== undefined && { metadata: textOf(metadata) }),
    ...(poolingEnabled !== undefined && { pooling_enabled: poolingEnabled === true }),
  };
}

/** A stack with a fictional state, and an emulator with its endpoints. */
export function fakeStack(
  endpoints: FakeEndpoint[],
  around: Partial<DriftStack> & { on?: Emulator; extra?: ExportedResource[]; begun?: object[] } = {},
): DriftStack {
  const { on = emulator, extra = [], begun = [], ...own } = around;
  const settings: Record<string, string> = { "endpoints:baseUrl": on.baseUrl, "endpoints:apiKey": on.apiKey };
  const seeded = new Set([emulator, other].flatMap((one) => one.endpoints.map(({ id }) => id)));
  const all = endpoints.map(({ name, id = `ep_${name}`, inputs, live = {}, more }) => {
    const given = { url: `https://${name}.example.com`, ...inputs };
    const values = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, plain(value)]));
    if (live !== "gone" && !seeded.has(id))
      on.seed({
        type: "cloud",
        id,
        created_at: CREATED,
        updated_at: CREATED,
        ...wireOf({ ...values, ...live }),
      });
    seeded.add(id);
    const noted = { __accountFingerprint: accountFingerprint(on), createdAt: CREATED, updatedAt: CREATED };
    return {
      ...{ urn: urnOf(name), type: TYPE, custom: true, id, inputs: given },
      outputs: { type: "cloud", ...given, ...noted },
      ...more,
    };
  });
  return {
    name: "prod",
    project: "shop",
    folder: "",
    config: async () => (key) => settings[key],
    state: async () => stateWith([...extra, ...all], begun),
    updates: async () => ({ result: "succeeded", isRewritten: false }),
    ...own,
  };
}

/** An exported state. */
export const stateWith = (resources: object[], pending: object[] = []) =>
  parseState(JSON.stringify({ version: 3, deployment: { resources, pending_operations: pending } }));
