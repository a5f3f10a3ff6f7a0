import { yaml } from "../../../provider/data/index";
import type { WireChange, WireEndpoint } from "../../../provider/service/contract";
import { type Behaviour, urlTakenError } from "./behaviour";
import { ServiceError } from "./serviceErrors";

const MAX_DESCRIPTION = 255;
const MAX_METADATA = 4096;
const BINDINGS = ["public", "internal", "kubernetes"];

type FieldType = [name: string, matches: (value: unknown) => boolean];

const isText = (value: unknown) => typeof value === "string";
const TEXT: FieldType = ["a string", isText];
const FLAG: FieldType = ["true or false", (value) => typeof value === "boolean"];
const TEXTS: FieldType = ["a list of strings", (value) => Array.isArray(value) && value.every(isText)];

/** The fields that a request can set, from the contract. */
export const CHANGEABLE: Record<string, FieldType> = {
  url: TEXT,
  traffic_policy: TEXT,
  description: TEXT,
  metadata: TEXT,
  bindings: TEXTS,
  pooling_enabled: FLAG,
};
const CREATE_FIELDS = { ...CHANGEABLE, type: TEXT };
const UPDATE_FIELDS = { ...CHANGEABLE, id: TEXT };

/** Reads the body of a create: `url`, and optionally `type` (only `cloud`) and the fields of an update. */
export function readCreate(body: Record<string, unknown>): WireChange & { url: string } {
  const fields = readFields(body, CREATE_FIELDS);
  if (fields.type !== undefined && fields.type !== "cloud") throw new ServiceError(248, fields.type);
  if (!fields.url) throw new ServiceError(18015, "url");
  checkFields(fields);
  return { ...fields, url: fields.url };
}

/** Reads the body of an update: at least one field, and optionally the endpoint's own `id`, which has no effect. */
export function readUpdate(id: string, body: Record<string, unknown>): WireChange {
  const { id: repeated, ...fields } = readFields(body, UPDATE_FIELDS);
  if (repeated !== undefined && repeated !== id)
    throw new ServiceError(18014, "id", "it is not the id in the path");
  if (Object.keys(fields).length === 0) throw new ServiceError(18004);
  checkFields(fields);
  return fields;
}

/** Refuses a change of the URL or of pooling. The code is not documented. */
export function checkFixed(before: WireEndpoint, { url, pooling_enabled }: WireChange): void {
  const isMoved = url !== undefined && parseUrl(url).url !== before.url;
  const isToggled = pooling_enabled !== undefined && pooling_enabled !== (before.pooling_enabled ?? false);
  if (isMoved || isToggled)
    throw new ServiceError(18014, isMoved ? "url" : "pooling_enabled", "it cannot change");
}

/** The address of an endpoint with its port. `url` is not enough: an edge's endpoint has none. */
const addressOf = ({ url = "", proto, hostport }: Pick<WireEndpoint, "url" | "proto" | "hostport">) =>
  hostport ? `${proto}://${hostport}` : url;

/** Two endpoints of any type can have the same URL and a common binding only if both have pooling enabled. */
export function checkUrlIsFree(
  candidate: WireEndpoint,
  others: Iterable<WireEndpoint>,
  behaviour: Behaviour,
): void {
  const url = candidate.url ?? "";
  for (const other of others) {
    if (other.id === candidate.id || addressOf(other) !== addressOf(candidate)) continue;
    if (!other.bindings?.some((binding) => candidate.bindings?.includes(binding))) continue;
    if (candidate.pooling_enabled && other.pooling_enabled) continue;
    const refusal = urlTakenError(behaviour, url);
    if (!refusal) continue;
    if (candidate.pooling_enabled) throw new ServiceError(18016, url);
    throw other.pooling_enabled ? new ServiceError(18017, url) : refusal;
  }
}

/** Refuses unknown fields and wrong types. `null` is a wrong type. */
function readFields(
  body: Record<string, unknown>,
  fields: Record<string, FieldType>,
): WireChange & { id?: string } {
  for (const [name, value] of Object.entries(body)) {
    const type = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!type) throw new ServiceError(214, name);
    const [typeName, matches] = type;
    if (!matches(value)) throw new ServiceError(215, name, typeName);
  }
  return body;
}

function checkFields(fields: WireChange): void {
  const { description, metadata, bindings, traffic_policy: policy } = fields;
  if (description && [...description].length > MAX_DESCRIPTION)
    throw new ServiceError(18012, MAX_DESCRIPTION);
  if (metadata && [...metadata].length > MAX_METADATA) throw new ServiceError(18013, MAX_METADATA);
  for (const [index, name] of (bindings ?? []).entries()) {
    if (!BINDINGS.includes(name)) throw new ServiceError(15005, name);
    if (bindings?.indexOf(name) !== index) throw new ServiceError(15006, name);
  }
  if (policy) checkPolicy(policy);
}

/** Text that starts with `{` must be JSON, other text a YAML mapping. The rules of the policy are not checked. */
function checkPolicy(policy: string): void {
  let data: unknown;
  try {
    // By default the parser prints warnings.
    data = policy.trimStart().startsWith("{")
      ? JSON.parse(policy)
      : yaml().parse(policy, { logLevel: "error" });
  } catch (error) {
    throw new ServiceError(2236, String(error).split("\n")[0] ?? "");
  }
  if (typeof data !== "object" || data === null || Array.isArray(data)) {
    throw new ServiceError(2236, "it is not a mapping");
  }
}

const DEFAULT_PORTS: Record<string, number | undefined> = { http: 80, https: 443, tls: 443, tcp: undefined };
const HOST = /^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*$/;

export type ParsedUrl = ReturnType<typeof parseUrl>;

/**
 * Parses an endpoint's URL: a scheme, a host and a port. Only tcp requires a port. The restrictions of an account (reserved
 * domains, plans) and of bindings (ports, hosts) are not checked.
 */
export function parseUrl(written: string) {
  const { scheme, authority } =
    /^(?:(?<scheme>[a-z][a-z0-9+.-]*):\/\/)?(?<authority>[^\s]+)$/i.exec(written)?.groups ?? {};
  if (!authority) throw new ServiceError(249, written);
  if (!scheme) throw new ServiceError(18022, written);
  const proto = scheme.toLowerCase();
  if (!Object.hasOwn(DEFAULT_PORTS, proto)) throw new ServiceError(18001, written, `its scheme is ${proto}`);
  if (/[/?#@]/.test(authority)) {
    throw new ServiceError(18001, written, "it has more than a scheme, a host and a port");
  }
  const [host = "", givenPort, ...rest] = authority.toLowerCase().split(":");
  if (!HOST.test(host) || rest.length > 0)
    throw new ServiceError(18001, written, "its host is not a host name");
  const port = givenPort || DEFAULT_PORTS[proto];
  if (!port) throw new ServiceError(18003, written);
  if (!/^\d{1,5}$/.test(`${port}`) || Number(port) < 1 || Number(port) > 65535) {
    throw new ServiceError(18001, written, "its port is not a number from 1 to 65535");
  }
  const publicUrl = `${proto}://${host}`;
  return {
    /** Scheme and host in lower case, without a default port. */
    url: Number(port) === DEFAULT_PORTS[proto] ? publicUrl : `${publicUrl}:${Number(port)}`,
    /** Without a port. */
    public_url: publicUrl,
    /** Always with a port. */
    hostport: `${host}:${Number(port)}`,
    proto,
    host,
    /** An internal host belongs to the account without a reservation. */
    internal: host.endsWith(".internal"),
  };
}
