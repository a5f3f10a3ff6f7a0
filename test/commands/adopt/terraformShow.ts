import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Emulator } from "../../../sdk/testing/emulator";

/*
 * What `terraform show -json` printed: v1.5.7 with ngrok/ngrok v0.8.0, against the emulator, and a stand-in for the domain. One
 * endpoint is tainted because the provider got its URL back in another spelling, and one is deposed because its deletion
 * failed. All hosts were replaced afterwards, and line breaks removed.
 */
export const SHOWN = join(import.meta.dirname, "terraformShow.json");

interface Shown {
  address: string;
  mode: string;
  type: string;
  tainted?: boolean;
  deposed_key?: string;
  values: { id: string; domain_id?: string };
}
interface Module {
  resources?: Shown[];
  child_modules?: Module[];
}

const resourcesOf = ({ resources = [], child_modules = [] }: Module): Shown[] => [
  ...resources,
  ...child_modules.flatMap(resourcesOf),
];

/** The endpoints in the output. */
export const shownEndpoints = resourcesOf(JSON.parse(readFileSync(SHOWN, "utf8")).values.root_module).filter(
  ({ mode, type }) => mode === "managed" && type === "ngrok_cloud_endpoint",
);

/** The addresses of the endpoints that can move. */
export const movable = shownEndpoints
  .map(({ address }) => address)
  .filter((address) => !/moving|spelled/.test(address));

/** Adds these endpoints to an account. */
export function seedShown(emulator: Emulator, endpoints = shownEndpoints): void {
  for (const { values } of endpoints) {
    const { domain_id: _, ...fields } = values;
    emulator.seed({ ...fields, type: "cloud" });
  }
}
