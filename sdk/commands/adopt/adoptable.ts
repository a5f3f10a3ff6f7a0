import { type JsonObject, looksLikeJson, policyFromText } from "../../../provider/data/index";
import { differenceOnAdoption } from "../../../provider/endpoint/adopt";
import { metadataFromText, sameSet } from "../../../provider/endpoint/documents";
import {
  keptWhenOmitted,
  type ManagedInput,
  managedInputs,
  userTexts,
} from "../../../provider/endpoint/fields";
import { checkInputs, engineInputs } from "../../../provider/endpoint/inputs";
import { MIN_RECOGNIZABLE_LENGTH, secretsIn } from "../../../provider/endpoint/secretSearch";
import { inputsFromLive } from "../../../provider/endpoint/state";
import { SIGNATURE, UNKNOWNS } from "../../../provider/pulumi/sentinels";
import { isNotFound } from "../../../provider/service/apiErrors";
import type { Endpoint } from "../../../provider/service/contract";
import type { EndpointsApi } from "../../../provider/service/endpoints";
import { withoutKeys } from "../../../provider/service/redaction";
import type { LogLine } from "../command";
import { count, groupBy } from "../text";

/* The inputs with which a program adopts an endpoint without a change. */

export interface Adoption {
  live: Endpoint;
  /** The inputs of the program, in their written order. */
  inputs: JsonObject;
  /** The values that the program cannot set, each with the reason. The service keeps them. */
  keptByService: string[];
}

/** An endpoint that no program can adopt without a change, with the reason. */
export interface Unadoptable {
  live: Endpoint;
  reason: string;
}

/**
 * The listed endpoints with all their fields. If no listed endpoint has a field, lists may omit that field. Then each endpoint
 * is read by id, because the first `pulumi up` would clear a field that the program lacks.
 */
export async function withAllFields(
  account: EndpointsApi,
  listed: readonly Endpoint[],
  log: LogLine,
): Promise<Endpoint[]> {
  const missing = userTexts.filter((name) => !listed.some((live) => live[name] !== undefined));
  if (listed.length === 0 || missing.length === 0) return [...listed];
  log(
    `Reading ${count(listed.length, "endpoint")} by id, because lists may leave out ${missing.join(" and ")}`,
  );
  const read = await Promise.all(
    listed.map(({ id }) =>
      account.get(id).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
        log(`Left out: ${id}, which has been deleted since it was listed`);
        return undefined;
      }),
    ),
  );
  return read.filter((live) => live !== undefined);
}

/**
 * Splits the endpoints into those that one program can adopt, and the others.
 *
 * @param setsAllFields Whether the program must set every field, because `pulumi import` takes all fields.
 */
export function adoptionsOf(
  lives: readonly Endpoint[],
  setsAllFields: boolean,
): { adoptions: Adoption[]; unadoptable: Unadoptable[] } {
  const all = lives.map(adoptionOf);
  const unadoptable = all.filter((one) => "reason" in one);
  const byUrl = groupBy(
    all.filter((one) => "inputs" in one),
    ({ inputs }) => inputs["url"],
  );
  const adoptions: Adoption[] = [];
  for (const same of byUrl.values()) {
    // On the service, endpoints with one URL may differ in their bindings. The provider accepts them only if they pool.
    const areCompatible = same.length === 1 || same.every(({ inputs }) => inputs["poolingEnabled"] === true);
    for (const one of same) {
      const lost = setsAllFields ? one.keptByService.find((what) => what !== YAML_TEXT) : undefined;
      const reason = areCompatible
        ? lost && `${lost}. With --format program, a program can leave that to the service`
        : "other endpoints have the same URL, and not all of them have pooling enabled";
      if (reason === undefined) adoptions.push(one);
      else unadoptable.push({ live: one.live, reason });
    }
  }
  return { adoptions, unadoptable };
}

/** What a program cannot express, although it changes nothing of the endpoint. */
const YAML_TEXT =
  "the layout and the comments of trafficPolicy in YAML, which the first change of the policy drops";

/** The inputs that adopt the endpoint without a write. An input is left out if its value is the service default. */
export function adoptionOf(live: Endpoint): Adoption | Unadoptable {
  const current = asWritten(live);
  const setByProgram: JsonObject = { adopt: live.id };
  const keptByService: string[] = [];
  for (const name of managedInputs) {
    const value = current[name];
    if (value === undefined || isServiceDefault(name, value, String(current["url"]))) continue;
    const lost =
      lostInPulumi(value) ??
      (keysShowSecrets(value) ? "one of its keys contains a secret, which code would show" : undefined) ??
      (hasApiKey(value) ? "it contains the account's API key, which code would show" : undefined);
    const problem = lost
      ? `${name} cannot be in a program: ${lost}`
      : checkInputs({ url: "https://any.example.com", [name]: value }).failures[0]?.reason;
    if (problem === undefined) setByProgram[name] = value;
    else if (keptWhenOmitted.includes(name)) keptByService.push(problem);
    else return { live, reason: problem };
  }
  if ("trafficPolicy" in setByProgram && !looksLikeJson(live.trafficPolicy ?? "{"))
    keptByService.push(YAML_TEXT);
  const { inputs, failures } = checkInputs(setByProgram);
  if (failures[0]) return { live, reason: failures[0].reason };
  const changed = differenceOnAdoption(live, engineInputs(inputs));
  if (changed.length > 0) return { live, reason: `adopting it would change its ${changed.join(" and ")}` };
  const { adopt, ...rest } = inputs;
  return { live, inputs: { ...rest, adopt }, keptByService };
}

/** The inputs of a live endpoint. The keys of its documents keep their written order. */
function asWritten(live: Endpoint): JsonObject {
  const inputs = inputsFromLive(live);
  const policy = policyFromText(live.trafficPolicy ?? "");
  return {
    ...inputs,
    ...("trafficPolicy" in inputs && "data" in policy && { trafficPolicy: policy.data }),
    ...("metadata" in inputs && { metadata: metadataFromText(live.metadata ?? "").data }),
  };
}

/** Whether the service would choose this value for an input that the program does not set. */
function isServiceDefault(name: ManagedInput, value: unknown, url: string): boolean {
  if (name === "poolingEnabled") return value === false;
  if (name !== "bindings") return false;
  if (sameSet(value, [])) return true;
  // The program sets other bindings: a service default of `public` would make the endpoint public when it is created anew.
  return sameSet(value, ["public"]) && !/\.internal(:\d+)?$/.test(url);
}

/** Half of a character (a lone surrogate), or U+FFFD, which replaces it in parsed replies. */
const HALF_CHARACTER = /[\ufffd\p{Surrogate}]/u;

/** The reason why Pulumi would not pass this value on unchanged; undefined if it would. */
function lostInPulumi(value: unknown): string | undefined {
  let reason: string | undefined;
  visit(value, (key, part) => {
    if (key === SIGNATURE || /^__(proto__$|pulumi)/.test(key))
      reason ??= `Pulumi reserves its key ${key} for itself`;
    if ([key, part].some((text) => typeof text === "string" && HALF_CHARACTER.test(text)))
      reason ??= "it contains half of a character, or U+FFFD in its place, which an update would write back";
    if (UNKNOWNS.has(part)) reason ??= "it contains a text that means “not known yet” to Pulumi";
  });
  return reason;
}

const hasApiKey = (document: unknown) => withoutKeys(JSON.stringify(document)) !== JSON.stringify(document);

/** Whether a key contains a secret of the same document. Code can take a value from the configuration, but not a key. */
function keysShowSecrets(document: unknown): boolean {
  const secrets = secretsIn(document).filter(({ length }) => length >= MIN_RECOGNIZABLE_LENGTH);
  const keys: string[] = [];
  visit(document, (key) => keys.push(key));
  const all = keys.join("\0");
  return secrets.some((secret) => all.includes(secret));
}

/** Visits the values of a document at every depth, each with its key. */
function visit(document: unknown, onValue: (key: string, value: unknown) => void): void {
  JSON.stringify(document, (key, value: unknown) => {
    onValue(key, value);
    return value;
  });
}
