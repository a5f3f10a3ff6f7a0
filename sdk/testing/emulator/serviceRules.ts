import { parse as parseYaml } from "yaml";
import type { WireChange, WireEndpoint } from "../../../provider/api/contract";
import { type Behaviour, urlTakenError } from "./behaviour";
import { ServiceError } from "./serviceErrors";

const MAX_DESCRIPTION = 255;
const MAX_METADATA = 4096;
const BINDINGS = ["public", "internal", "kubernetes"];

type Kind = [name: string, is: (value: unknown) => boolean];

const isText = (value: unknown) => typeof value === "string";
const TEXT: Kind = ["a string", isText];
const FLAG: Kind = ["true or false", (value) => typeof value === "boolean"];
const TEXTS: Kind = ["a list of strings", (value) => Array.isArray(value) && value.every(isText)];

const TEXT_FIELDS = { url: TEXT, traffic_policy: TEXT, description: TEXT, metadata: TEXT };
const CHANGEABLE: Record<string, Kind> = { ...TEXT_FIELDS, bindings: TEXTS, pooling_enabled: FLAG };
const CREATE_FIELDS = { ...CHANGEABLE, type: TEXT };
const UPDATE_FIELDS = { ...CHANGEABLE, id: TEXT };

/** What a create may hold: `url`, and optionally `type` (only `cloud`) and the fields of an update. */
export function readCreate(
  body: Record<string, unknown>,
  requirePolicy: boolean,
): WireChange & { url: string } {
  const fields = readFields(body, CREATE_FIELDS);
  if (fields.type !== undefined && fields.type !== "cloud") throw new ServiceError(248, fields.type);
  if (!fields.url) throw new ServiceError(18015, "url");
  if (requirePolicy && !fields.traffic_policy) throw new ServiceError(18011);
  checkFields(fields, requirePolicy);
  return { ...fields, url: fields.url };
}

/** What an update may hold: the endpoint's own `id`, which changes nothing, and at least one field to change. */
export function readUpdate(id: string, body: Record<string, unknown>, requirePolicy: boolean): WireChange {
  const { id: repeated, ...fields } = readFields(body, UPDATE_FIELDS);
  if (repeated !== undefined && repeated !== id)
    throw new ServiceError(18014, "id", "it is not the id in the path");
  if (Object.keys(fields).length === 0) throw new ServiceError(18004);
  checkFields(fields, requirePolicy);
  return fields;
}

/** Where an endpoint is reached; an edge's has no `url`, and its `public_url` need not hold the port. */
export const placeOf = ({ url = "", proto, hostport }: Pick<WireEndpoint, "url" | "proto" | "hostport">) =>
  hostport ? `${proto}://${hostport}` : url;

/** Two endpoints of any type share a URL and a binding only where both have pooling enabled. */
export function checkUrlIsFree(
  candidate: WireEndpoint,
  others: Iterable<WireEndpoint>,
  behaviour: Behaviour,
): void {
  const url = candidate.url ?? "";
  for (const other of others) {
    if (other.id === candidate.id || placeOf(other) !== placeOf(candidate)) continue;
    if (!other.bindings?.some((binding) => candidate.bindings?.includes(binding))) continue;
    if (candidate.pooling_enabled && other.pooling_enabled) continue;
    const refusal = urlTakenError(behaviour, url);
    if (!refusal) continue;
    if (candidate.pooling_enabled) throw new ServiceError(18016, url);
    throw other.pooling_enabled ? new ServiceError(18017, url) : refusal;
  }
}

/** Unknown fields and wrong types are refused first, before any field's own rule. `null` is a wrong type. */
function readFields(
  body: Record<string, unknown>,
  fields: Record<string, Kind>,
): WireChange & { id?: string } {
  for (const [name, value] of Object.entries(body)) {
    const kind = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!kind) throw new ServiceError(214, name);
    const [kindName, is] = kind;
    if (!is(value)) throw new ServiceError(215, name, kindName);
  }
  return body;
}

function checkFields(fields: WireChange, requirePolicy: boolean): void {
  const { description, metadata, bindings, traffic_policy: policy } = fields;
  if (description && [...description].length > MAX_DESCRIPTION)
    throw new ServiceError(18012, MAX_DESCRIPTION);
  if (metadata && [...metadata].length > MAX_METADATA) throw new ServiceError(18013, MAX_METADATA);
  for (const [index, name] of (bindings ?? []).entries()) {
    if (!BINDINGS.includes(name)) throw new ServiceError(15005, name);
    if (bindings?.indexOf(name) !== index) throw new ServiceError(15006, name);
  }
  if (policy === "" && requirePolicy) throw new ServiceError(18011);
  if (policy) checkPolicy(policy);
}

/** Text that starts with `{` must be JSON, other text a YAML mapping. What the rules in it mean is not checked. */
function checkPolicy(policy: string): void {
  let data: unknown;
  try {
    // The parser's warnings would appear on the terminal.
    data = policy.trimStart().startsWith("{") ? JSON.parse(policy) : parseYaml(policy, { logLevel: "error" });
  } catch (error) {
    throw new ServiceError(2236, String(error).split("\n")[0] ?? "");
  }
  if (typeof data !== "object" || data === null || Array.isArray(data)) {
    throw new ServiceError(2236, "it is not a mapping");
  }
}

const DEFAULT_PORTS: Record<string, number | undefined> = { http: 80, https: 443, tls: 443, tcp: undefined };
const HOST = /^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*$/;

/** What the service derives from the URL that it was given. */
export type Address = ReturnType<typeof addressOf>;

/**
 * Reads an endpoint's URL: scheme, host and, where the scheme has no default, a port; nothing after it. What hangs
 * on the account (reserved domains, plans) or on a binding (which ports and hosts it takes) is not checked.
 */
export function addressOf(written: string) {
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
    /** Scheme and host in lower case, a default port left out. */
    url: Number(port) === DEFAULT_PORTS[proto] ? publicUrl : `${publicUrl}:${Number(port)}`,
    /** Without its port. */
    public_url: publicUrl,
    /** Always with the port. */
    hostport: `${host}:${Number(port)}`,
    proto,
    host,
    /** Internal hosts are a namespace of the account: nothing is reserved for them. */
    internal: host.endsWith(".internal"),
  };
}
