import type { WireEndpoint } from "../../../provider/service/contract";
import type { Behaviour } from "./behaviour";
import type { Key } from "./keys";
import { ServiceError } from "./serviceErrors";
import { checkFixed, parseUrl, readCreate, readUpdate } from "./serviceRules";

const MAX_PAGE = 100;

/** A request that has passed the checks of key, version and path. */
interface Call {
  key: Key;
  behaviour: Behaviour;
  /** The endpoint's id in the path. Empty for `/endpoints`. */
  id: string;
  query: { limit?: string; before_id?: string; filter?: string };
  body: Record<string, unknown>;
}

export interface Answer {
  status: number;
  body?: object;
}

const routes = [
  { operation: "create", method: "POST", byId: false, query: [], run: createEndpoint },
  {
    operation: "list",
    method: "GET",
    byId: false,
    query: ["before_id", "limit", "filter"],
    run: listEndpoints,
  },
  { operation: "read", method: "GET", byId: true, query: [], run: getEndpoint },
  { operation: "update", method: "PATCH", byId: true, query: [], run: updateEndpoint },
  { operation: "delete", method: "DELETE", byId: true, query: [], run: deleteEndpoint },
] as const;

export type Operation = (typeof routes)[number]["operation"];

export function operationOf({ method, path }: { method: string; path: string }): Operation | undefined {
  const byId = path !== "/endpoints";
  return routes.find((route) => route.method === method && route.byId === byId)?.operation;
}

export function routeOf(method: string, path: string) {
  const [, collection, id, ...rest] = path.split("/");
  if (collection !== "endpoints" || id === "" || rest.length > 0) throw new ServiceError(222, path);
  const route = routes.find((one) => one.method === method && one.byId === (id !== undefined));
  if (!route) throw new ServiceError(27614, method);
  return { route, id: id ?? "", takesBody: method === "POST" || method === "PATCH" };
}

export function readQuery(query: URLSearchParams, known: readonly string[]): Call["query"] {
  for (const name of query.keys()) {
    if (!known.includes(name)) throw new ServiceError(231, name, known.join(", ") || "none");
    if (query.getAll(name).length > 1) throw new ServiceError(232, name);
  }
  return Object.fromEntries(query);
}

function createEndpoint({ key: { store }, behaviour, body }: Call): Answer {
  return { status: 201, body: behaviour.shows(store.create(readCreate(body))) };
}

/**
 * Lists endpoints of every type, newest first. 200 with one page and the URI of the next one. `limit` is from 1 to 100,
 * default 100. `before_id` selects the endpoints older than this one, which can be deleted. `filter` selects the endpoints
 * that match an expression, subject to `behaviour.filters`.
 */
function listEndpoints({ key: { store, mayList }, behaviour, query }: Call): Answer {
  if (!mayList) throw new ServiceError(204);
  const { limit = `${MAX_PAGE}`, before_id: before, filter } = query;
  if (!/^\d+$/.test(limit) || Number(limit) < 1 || Number(limit) > MAX_PAGE) {
    throw new ServiceError(233, MAX_PAGE, limit);
  }
  if (before !== undefined) checkId(before);
  const older = store.newestFirst(before, behaviour.listLag);
  if (!older) throw new ServiceError(230, "no endpoint has the id in before_id");
  const rest = filter === undefined ? older : filtered(older, filter, behaviour.filters);
  const size = Math.min(Number(limit), behaviour.pageSize);
  const page = rest.slice(0, size);
  const uri = `${store.baseUrl}/endpoints`;
  const nextQuery = new URLSearchParams({ ...query, before_id: page.at(-1)?.id ?? "" });
  const next = rest.length > size ? `${uri}?${nextQuery}` : null;
  return {
    status: 200,
    body: { endpoints: page.map((one) => behaviour.shows(itemOf(one))), uri, next_page_uri: next },
  };
}

function filtered(all: WireEndpoint[], filter: string, filters: Behaviour["filters"]): WireEndpoint[] {
  if (filters === "refused") throw new ServiceError(231, "filter", "before_id, limit");
  if (filters === "ignored") return all;
  const isWanted = parseFilter(filter);
  const isAgents = ({ type }: WireEndpoint) => filters === "agent" && type === "ephemeral";
  const wanted = all.filter((one) => isWanted(isAgents(one) ? { ...one, type: "agent" } : one));
  return filters === "incomplete" ? wanted.filter((_, index) => index % 2 === 1) : wanted;
}

function getEndpoint(call: Call): Answer {
  return { status: 200, body: call.behaviour.shows(find(call)) };
}

/**
 * Changes the given fields of a cloud endpoint. An empty text clears a field. With an empty list of bindings the service
 * chooses them. The scheme of the URL cannot change. 200 with the endpoint.
 */
function updateEndpoint(call: Call): Answer {
  const before = findCloud(call);
  const change = readUpdate(call.id, call.body);
  const proto = change.url === undefined ? before.proto : parseUrl(change.url).proto;
  if (before.proto !== undefined && proto !== before.proto)
    throw new ServiceError(18005, before.proto, `${proto}`);
  if (call.behaviour.fixedUrlAndPooling) checkFixed(before, change);
  return { status: 200, body: call.behaviour.shows(call.key.store.update(before, change)) };
}

function deleteEndpoint(call: Call): Answer {
  call.key.store.delete(findCloud(call).id);
  return { status: 204 };
}

function find({ key, id }: Call): WireEndpoint {
  checkId(id);
  const endpoint = key.store.get(id);
  if (!endpoint) throw new ServiceError(222, `The endpoint ${id}`);
  return endpoint;
}

function findCloud(call: Call): WireEndpoint {
  const endpoint = find(call);
  if (endpoint.type === "cloud") return endpoint;
  const reason = `it is ${endpoint.type}, and only cloud endpoints can be changed or deleted`;
  throw new ServiceError(18014, "type", reason);
}

function checkId(id: string): void {
  if (!id.startsWith("ep_")) throw new ServiceError(227, id);
}

/** The service returns the edge of a cloud endpoint only for a read by id. */
function itemOf(endpoint: WireEndpoint): WireEndpoint {
  if (endpoint.type !== "cloud") return endpoint;
  const { edge: _onlyById, ...item } = endpoint;
  return item;
}

/*
 * The filter expressions that the provider sends: `obj.FIELD == "TEXT"`, `obj.FIELD in ["TEXT", "TEXT"]`, and several of
 * these joined by `&&`. The public service accepts any CEL expression. The emulator refuses all others.
 */

/** The fields that the provider filters by. A missing field equals `""`. */
const FIELDS = ["id", "type", "url", "name", "region"] as const;

/** A text with the escapes that JSON and CEL have in common. */
const TEXT = String.raw`"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"`;
const COMPARISON = `obj\\.(${FIELDS.join("|")}) (?:== (${TEXT})|in (\\[(?:${TEXT}(?:, ${TEXT})*)?\\]))`;
const WHOLE = new RegExp(`^${COMPARISON}(?: && ${COMPARISON})*$`);

/** Whether an endpoint matches the expression. */
function parseFilter(expression: string): (endpoint: WireEndpoint) => boolean {
  if (!WHOLE.test(expression))
    throw new ServiceError(
      230,
      `filter: the emulator supports only comparisons of ${FIELDS.join(", ")} with == or in, joined by &&`,
    );
  const comparisons = [...expression.matchAll(new RegExp(COMPARISON, "g"))].map(([, field, text, list]) => ({
    field: field as (typeof FIELDS)[number],
    texts: JSON.parse(list ?? `[${text}]`) as string[],
  }));
  return (endpoint) => comparisons.every(({ field, texts }) => texts.includes(endpoint[field] ?? ""));
}
