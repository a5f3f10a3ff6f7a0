import { differenceOnAdoption } from "../../../provider/adoption";
import type { LiveEndpoint } from "../../../provider/api/items";
import { checkedInputs, checkInputs } from "../../../provider/check";
import { isLeftToTheService, type ManagedInput } from "../../../provider/diff";
import { isMapping, sameSet } from "../../../provider/document";
import { UNKNOWNS } from "../../../provider/plugin/values";
import type { JsonObject } from "../../../provider/schema";
import { SIGNATURE } from "../../../provider/secretNotes";
import { inputsOf } from "../../../provider/state";
import { keysShowSecrets } from "./secrets";

/* What a program has to give so that an endpoint stays as it is. */

export interface Adoption {
  live: LiveEndpoint;
  /** What the program gives, in the order in which it is written. */
  inputs: JsonObject;
  /** What of the endpoint it cannot give, and leaves to the service. */
  unsaid: string[];
}

/** An endpoint that no program can take over as it is, and why. */
export interface Refusal {
  live: LiveEndpoint;
  reason: string;
}

/** The order of a definition that is easily read: where, what it is for, the long part, the note. */
const ORDER = [
  "url",
  "description",
  "metadata",
  "bindings",
  "poolingEnabled",
  "trafficPolicy",
] as const satisfies ManagedInput[];

/** Which endpoints a program can take over beside each other, and which not. */
export function adoptionsOf(lives: readonly LiveEndpoint[]): { adoptions: Adoption[]; refused: Refusal[] } {
  const judged = lives.map(adoptionOf);
  const refused = judged.filter((one) => "reason" in one);
  const byUrl = new Map<unknown, Adoption[]>();
  for (const one of judged.filter((one) => "inputs" in one)) {
    const { url } = one.inputs;
    byUrl.set(url, [...(byUrl.get(url) ?? []), one]);
  }
  const adoptions: Adoption[] = [];
  for (const same of byUrl.values()) {
    // Their bindings can tell them apart for the service; for the provider a URL is one endpoint's, unless they pool.
    const goTogether = same.length === 1 || same.every(({ inputs }) => inputs["poolingEnabled"] === true);
    const reason = "others serve its URL too, and not all of them pool";
    if (goTogether) adoptions.push(...same);
    else refused.push(...same.map(({ live }) => ({ live, reason })));
  }
  return { adoptions, refused };
}

/**
 * The inputs with which `adopt` makes no request that writes. What the service would decide in the same way is not
 * given, nor is what cannot be said and is left alone where it is not given.
 */
export function adoptionOf(live: LiveEndpoint): Adoption | Refusal {
  const there = inputsOf(live);
  const given: JsonObject = { adopt: live.id };
  const unsaid: string[] = [];
  for (const name of ORDER) {
    const value = there[name];
    if (value === undefined || isServicesChoice(name, value, String(there["url"]))) continue;
    const problem =
      unsayable(value) ??
      (keysShowSecrets(value) ? "a secret of it stands in a key too, which code would show" : undefined) ??
      checkInputs({ url: "https://any.example.com", [name]: value }).failures[0]?.reason;
    if (problem === undefined) given[name] = value;
    else if (isLeftToTheService(name)) unsaid.push(`${name} (${problem})`);
    else return { live, reason: problem };
  }
  const { inputs, failures } = checkInputs(given);
  if (failures[0]) return { live, reason: failures[0].reason };
  const { changed } = differenceOnAdoption(live, checkedInputs(inputs));
  if (changed.length > 0) return { live, reason: `its ${changed.join(" and ")} would be changed` };
  const { adopt, ...rest } = inputs;
  return { live, inputs: { ...rest, adopt }, unsaid };
}

/** Whether the service decides so by itself where nothing is given. */
function isServicesChoice(name: ManagedInput, value: unknown, url: string): boolean {
  if (name === "poolingEnabled") return value === false;
  if (name !== "bindings") return false;
  const usual = /\.internal(:\d+)?$/.test(url) ? "internal" : "public";
  return sameSet(value, []) || sameSet(value, [usual]);
}

/** Why this does not get through Pulumi as it is, in whatever form a program gives it; undefined where it does. */
function unsayable(value: unknown): string | undefined {
  if (UNKNOWNS.has(value)) return "it holds a text that means “not known yet” to Pulumi";
  if (Array.isArray(value)) return firstOf(value);
  if (!isMapping(value)) return undefined;
  const reserved = Object.keys(value).find((key) => key === SIGNATURE || /^__(proto__$|pulumi)/.test(key));
  return reserved === undefined
    ? firstOf(Object.values(value))
    : `Pulumi has its own use for its key ${reserved}`;
}

function firstOf(values: unknown[]): string | undefined {
  for (const value of values) {
    const reason = unsayable(value);
    if (reason !== undefined) return reason;
  }
  return undefined;
}
