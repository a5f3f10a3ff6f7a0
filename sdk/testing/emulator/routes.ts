import type { WireEndpoint } from "../../../provider/wire";
import type { Key } from "./accounts";
import { addressOf } from "./address";
import type { Behaviour } from "./behaviour";
import { ServiceError } from "./errors";
import { readCreate, readUpdate } from "./rules";

export const MAX_PAGE = 100;

export interface Call {
  /** The key that the call came with, and the endpoints that it opens. */
  key: Key;
  behaviour: Behaviour;
  /** The endpoint's id in the path; empty for the collection. */
  id: string;
  query: URLSearchParams;
  body: Record<string, unknown>;
}

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: object;
}

export type Operation = "create" | "list" | "read" | "update" | "delete";

interface Route {
  method: string;
  path: "/endpoints" | "/endpoints/{id}";
  takesBody: boolean;
  run: (call: Call) => Answer;
}

export const routes: Route[] = [
  { method: "POST", path: "/endpoints", takesBody: true, run: createEndpoint },
  { method: "GET", path: "/endpoints", takesBody: false, run: listEndpoints },
  { method: "GET", path: "/endpoints/{id}", takesBody: false, run: getEndpoint },
  { method: "PATCH", path: "/endpoints/{id}", takesBody: true, run: updateEndpoint },
  { method: "DELETE", path: "/endpoints/{id}", takesBody: false, run: deleteEndpoint },
];

/** Creates a cloud endpoint. 201 with the endpoint. */
function createEndpoint({ key: { store, principal }, behaviour, query, body }: Call): Answer {
  readQuery(query, []);
  return { status: 201, body: store.create(readCreate(body, behaviour.requirePolicy), principal) };
}

/**
 * Lists endpoints of every type, newest first. 200 with one page of them, and where the next one is. `limit` is 1 to
 * 100, default 100. `before_id` gives the endpoints older than that one, which may be gone by now. `filter`, which
 * the public service has, is not imitated and so refused as unknown.
 */
function listEndpoints({ key: { store, mayList }, behaviour, query }: Call): Answer {
  if (!mayList) throw new ServiceError(204);
  const { limit = `${MAX_PAGE}`, before_id: before } = readQuery(query, ["before_id", "limit"]);
  if (!/^\d+$/.test(limit) || Number(limit) < 1 || Number(limit) > MAX_PAGE) {
    throw new ServiceError(233, limit, `${MAX_PAGE}`);
  }
  if (before !== undefined) checkId(before);
  const rest = store.newestFirst(before, behaviour.listLag);
  if (!rest) throw new ServiceError(230, "before_id is the id of no endpoint");
  const size = Math.min(Number(limit), behaviour.pageSize);
  const page = rest.slice(0, size);
  const uri = `${store.baseUrl}/endpoints`;
  const next = rest.length > size ? `${uri}?before_id=${page.at(-1)?.id}&limit=${limit}` : null;
  return { status: 200, body: { endpoints: page.map(listed), uri, next_page_uri: next } };
}

/** Reads one endpoint of any type. 200 with the endpoint. */
function getEndpoint(call: Call): Answer {
  readQuery(call.query, []);
  return { status: 200, body: find(call) };
}

/**
 * Changes the given fields of a cloud endpoint; an empty text clears one, an empty list of bindings leaves them to
 * the service. The URL may change, its scheme may not. 200 with the endpoint.
 */
function updateEndpoint(call: Call): Answer {
  readQuery(call.query, []);
  const before = findCloud(call);
  const change = readUpdate(call.id, call.body, call.behaviour.requirePolicy);
  if (change.url !== undefined) {
    const { proto } = addressOf(change.url);
    if (before.proto !== undefined && proto !== before.proto)
      throw new ServiceError(18005, before.proto, proto);
  }
  return { status: 200, body: call.key.store.update(before, change) };
}

/** Deletes a cloud endpoint. 204 without a body. */
function deleteEndpoint(call: Call): Answer {
  readQuery(call.query, []);
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
  throw new ServiceError(
    18014,
    "type",
    `it is ${endpoint.type}, and only cloud endpoints can be changed or deleted`,
  );
}

function checkId(id: string): void {
  if (!id.startsWith("ep_")) throw new ServiceError(227, id);
}

/** A list item of a cloud endpoint lacks the edge that the endpoint shows when it is read by id. */
function listed(endpoint: WireEndpoint): WireEndpoint {
  if (endpoint.type !== "cloud") return endpoint;
  const { edge: _onlyById, ...item } = endpoint;
  return item;
}

function readQuery<Name extends string>(
  query: URLSearchParams,
  known: Name[],
): Partial<Record<Name, string>> {
  const supported = known.join(", ") || "none";
  for (const name of query.keys()) {
    if (!known.some((one) => one === name)) throw new ServiceError(231, name, supported);
    if (query.getAll(name).length > 1) throw new ServiceError(232, name);
  }
  return Object.fromEntries(query) as Partial<Record<Name, string>>;
}
