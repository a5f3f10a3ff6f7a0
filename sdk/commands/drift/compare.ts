import { z } from "zod";
import { documentsAsData, managedInputs } from "../../../provider/endpoint/fields";
import { engineInputs } from "../../../provider/endpoint/inputs";
import {
  isRecognizableKey,
  isSecretName,
  MASKED,
  secretsIn,
  withoutPasswords,
} from "../../../provider/endpoint/secretSearch";
import {
  changedPaths,
  refreshedFromLive,
  SERVICE_DEFAULTS_KEY,
  withServiceDefaults,
} from "../../../provider/endpoint/state";
import type { Endpoint } from "../../../provider/service/contract";
import { isWithin, parsePath, valueAt } from "../../test-engine/index";
import {
  isMapping,
  type JsonObject,
  normalizeUrl,
  type Path,
  pathText,
} from "../../traffic-policy/data/index";
import type { ManagedEndpoint } from "../userProject";
import { type DriftedEndpoint, type FieldChange, INVALID_POLICY } from "./report";

/** The change on the service, by the kind of change that would repair it. */
const CHANGE_KINDS = { add: "removed", delete: "added", update: "changed" } as const;

/**
 * The drift of an endpoint; undefined if there is none. The provider's diff decides, as it does for `pulumi up`.
 *
 * @param live The live endpoint; undefined if it is gone.
 */
export function driftOf(
  managed: ManagedEndpoint,
  live: Endpoint | undefined,
  accountKey?: string,
): DriftedEndpoint | undefined {
  const { name, urn, type, id } = managed;
  const url = maskedUrl(managed);
  const about = { name, urn, type, id, ...(url !== undefined && { url }) };
  if (!live) return { ...about, drift: "deleted", changes: [] };

  const outputs = documentsAsData(refreshedFromLive(live, managed.outputs).props);
  // The state notes the service defaults of inputs that are not set by the program.
  const noted = { ...outputs, [SERVICE_DEFAULTS_KEY]: managed.outputs[SERVICE_DEFAULTS_KEY] };
  const inputs = withServiceDefaults(engineInputs(managed.inputs), managed.outputs);
  const mask = masking([managed.inputs, outputs], managed.secrets, accountKey);
  const sides = { expected: mask.values(inputs), live: mask.values(outputs) };
  const ignored = managed.ignored.map((text) => parsePath(text) ?? [text]);
  const changes = changedPaths(noted, engineInputs(managed.inputs))
    .filter(({ path, isInputDiff }) => !isInputDiff && !ignored.some((each) => isWithin(path, each)))
    .map(({ path, kind }) => fieldChange(path, CHANGE_KINDS[kind], sides, mask, managed.secrets));
  return changes.length > 0 ? { ...about, drift: "changed", changes } : undefined;
}

/** The URL of a state's entry, as a report may show it. */
export function maskedUrl({ inputs, secrets }: ManagedEndpoint): string | undefined {
  const { url } = inputs;
  if (secrets.has("url")) return MASKED;
  return typeof url === "string" ? masking([inputs], secrets).text(url) : undefined;
}

/**
 * @param sides The masked values.
 * @param fields The fields that the state keeps secret.
 */
function fieldChange(
  path: Path,
  kind: FieldChange["kind"],
  sides: { expected: unknown; live: unknown },
  mask: Masking,
  fields: ReadonlySet<string>,
): FieldChange {
  const field = String(path[0]);
  const masked = path.map((part) => (typeof part === "string" ? mask.text(part) : part));
  const [expected, live] = [sides.expected, sides.live].map((side) => {
    const value = masked.reduce(valueAt, side);
    if (value === undefined) return undefined;
    if (field === "trafficPolicy" && path.length === 1 && typeof value === "string") return INVALID_POLICY;
    return fields.has(field) ? MASKED : json.parse(value);
  });
  return {
    field,
    path: field + pathText(masked).slice(field.length),
    kind,
    ...(expected !== undefined && { expected }),
    ...(live !== undefined && { live }),
    secret: JSON.stringify([expected, live]).includes(MASKED),
  };
}

const json = z.json();

/*
 * Masks secrets in reports. Many people read a report, so more is masked than in an error message: everything below a key
 * that names a secret, the passwords of URLs, and all exact copies of values that are secret in the state.
 */

/** A shorter text in a larger document may be an ordinary word (`header`). With it masked, the report would be unreadable. */
const MIN_PART_LENGTH = 8;

/** `{name: "authorization", value: "…"}` */
const NAMES = ["name", "key", "header"];
const VALUES = ["value", "values"];

/** Hides the secrets of an endpoint. */
interface Masking {
  /** Masks the secrets in a text that is not secret as a whole. */
  text(text: string): string;
  /** Masks the secrets in a document, also in its keys. */
  values(document: unknown): unknown;
}

/**
 * @param documents The documents with the secrets, of both sides.
 * @param fields The fields that the state keeps secret.
 * @param accountKey The key of the account.
 */
export function masking(
  documents: readonly JsonObject[],
  fields: ReadonlySet<string>,
  accountKey?: string,
): Masking {
  const found = new Set(isRecognizableKey(accountKey) ? [accountKey] : []);
  for (const document of documents) for (const secret of secretTexts(document, fields)) found.add(secret);
  return maskingOf(found);
}

/** The secrets in a document that are recognized in other places. */
function secretTexts(document: JsonObject, fields: ReadonlySet<string>): Set<string> {
  const found = new Set<string>();
  for (const field of managedInputs) {
    for (const secret of secretsIn(document[field])) found.add(secret);
    replaced(document[field], fields.has(field), (part, isSecret) => {
      if (isSecret && typeof part === "string" && part.length >= MIN_PART_LENGTH) found.add(part);
      return part;
    });
  }
  return found;
}

function maskingOf(found: ReadonlySet<string>): Masking {
  const secrets = [...found].sort((a, b) => b.length - a.length);
  const text = (plain: string) =>
    secrets
      .reduce((parts, secret) => parts.flatMap((part) => part.split(secret)), [withoutPasswords(plain)])
      .join(MASKED);
  const mask = (part: string | number, isSecret: boolean) => {
    if (isSecret || secrets.includes(`${part}`)) return MASKED;
    return typeof part === "string" ? text(part) : part;
  };
  return { text, values: (document) => replaced(document, false, mask) };
}

/** The fields of a report whose values are other people's texts. Names and ids stay, because commands need them. */
const FOREIGN_FIELDS = ["url", "description", "path", "expected", "live", "reason"];

/**
 * The report without the secret inputs of pending creates, whose endpoints may be listed as unmanaged, and without the secret URLs
 * and descriptions of all endpoints of the states.
 */
export function withoutSecretInputs<T>(
  report: T,
  creates: readonly ManagedEndpoint[],
  managed: readonly ManagedEndpoint[],
): T {
  const parts = new Set<string>();
  const whole = new Set<string>();
  for (const { inputs, secrets } of [...creates, ...managed])
    for (const name of ["url", "description"]) {
      const text = inputs[name];
      if (!secrets.has(name) || typeof text !== "string" || text === "") continue;
      for (const each of [text, ...(name === "url" ? [normalizeUrl(text) ?? text] : [])]) {
        whole.add(each);
        if (each.length >= MIN_PART_LENGTH) parts.add(each);
      }
    }
  for (const { inputs, secrets } of creates) for (const text of secretTexts(inputs, secrets)) parts.add(text);
  if (whole.size === 0 && parts.size === 0) return report;
  const mask = maskingOf(parts);
  const masked = (value: unknown, isForeign: boolean): unknown => {
    if (typeof value === "string") {
      if (!isForeign) return value;
      return whole.has(value) || whole.has(normalizeUrl(value) ?? "") ? MASKED : mask.text(value);
    }
    if (Array.isArray(value)) return value.map((item) => masked(item, isForeign));
    if (!isMapping(value)) return isForeign ? mask.values(value) : value;
    const all = Object.entries(value).map(([name, item]) => [
      isForeign ? mask.text(name) : name,
      masked(item, isForeign || FOREIGN_FIELDS.includes(name)),
    ]);
    const copy = Object.fromEntries(all);
    const { expected, live } = copy;
    const isChange = !isForeign && "secret" in copy;
    return isChange ? { ...copy, secret: JSON.stringify([expected, live]).includes(MASKED) } : copy;
  };
  return masked(report, false) as T;
}

/** The document with its texts, numbers and keys replaced. A place is secret if a key above it, or beside it, names a secret. */
function replaced(
  value: unknown,
  isSecret: boolean,
  change: (part: string | number, isSecret: boolean) => string | number,
): unknown {
  if (typeof value === "string" || typeof value === "number") return change(value, isSecret);
  if (Array.isArray(value)) return value.map((item) => replaced(item, isSecret, change));
  if (!isMapping(value)) return value;
  const all = Object.entries(value).map(([name, item]) => [
    change(name, false),
    replaced(item, isSecret || isSecretIn(value, name), change),
  ]);
  return Object.fromEntries(all);
}

/** Whether a value is secret by its key, or by the name beside it. */
function isSecretIn(mapping: JsonObject, name: string): boolean {
  if (isSecretName(name)) return true;
  if (!VALUES.includes(name.toLowerCase())) return false;
  return Object.entries(mapping).some(
    ([beside, text]) =>
      NAMES.includes(beside.toLowerCase()) && typeof text === "string" && isSecretName(text),
  );
}
