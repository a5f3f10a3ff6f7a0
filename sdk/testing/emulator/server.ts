import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import type { RecordedRequest } from "../types";
import { type Behaviour, reportedTime } from "./behaviour";
import type { Disturbances } from "./disturbance";
import type { Accounts } from "./keys";
import { base62 } from "./random";
import { type Answer, readQuery, routeOf } from "./routes";
import type { AnsweringReply, Cut, Headers, Plan, Scripts } from "./script";
import type { Clock, RateWindow } from "./serviceClock";
import { ServiceError } from "./serviceErrors";

const MAX_BODY = 5 * 1024 * 1024;

export interface Host {
  accounts: Accounts;
  behaviour: Behaviour;
  versionHeader: string;
  /** The part of every path that stands before the API's own; empty or `/…`. */
  basePath: string;
  scripts: Scripts;
  disturbances: Disturbances;
  requests: RecordedRequest[];
  /** The ids of endpoints that rivals created. */
  rivals: string[];
  onAnswer: (request: RecordedRequest) => void;
  clock: Clock;
  /** Undefined where there is no limit. */
  rate: RateWindow | undefined;
  /** Aborted when the emulator closes. */
  closing: AbortController;
}

/** A request as far as it can be understood without refusing anything. */
interface Received {
  record: RecordedRequest;
  operationId: string;
  /** When its head was there, in milliseconds by the service's clock. */
  arrival: number;
  inside: boolean;
  headers: IncomingHttpHeaders;
  query: URLSearchParams;
  /** Undefined where the body was too large to keep. */
  text: string | undefined;
}

/**
 * Answers requests in this order: note, script or drawn fault; then, unless that keeps the request from taking effect,
 * credentials, version, rate limit, route, body, rules. Never throws.
 */
export function listener(host: Host): RequestListener {
  return (request, response) => {
    handle(host, request, response).catch(() => response.destroy());
  };
}

async function handle(host: Host, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const received = await receive(host, request);
  const { record, operationId } = received;
  host.clock.catchUp();
  const { reply: scripted, query = received.query, onEffect } = planFor(host, received);
  const perform = (rate?: RateWindow) => {
    const usual = host.behaviour;
    host.behaviour = { ...usual, ...scripted.behaviour };
    const done = answer({ ...host, rate }, { ...received, query });
    host.behaviour = usual;
    onEffect?.(done.status < 400);
    return done;
  };
  scripted.before?.(record);
  const real = scripted.afterCommit ? perform(host.rate) : undefined;
  scripted.after?.(record);
  if (!real) host.rate?.count(received.arrival);
  if (scripted.lateMs !== undefined) host.clock.later(scripted.lateMs, perform);
  if (scripted.delayMs) await wait(scripted.delayMs, undefined, { signal: host.closing.signal });
  if ("reset" in scripted) {
    request.socket.resetAndDestroy();
  } else if (!("hang" in scripted)) {
    const reply = replyOf(scripted, real, record);
    record.status = reply.status;
    const { date: shown } = { ...host.behaviour, ...scripted.behaviour };
    const date = reportedTime(shown, host.clock.now(), (time) => time.toUTCString()) ?? null;
    // The public service documents operation ids for errors only; here they tell any two answers apart.
    send(response, reply, { date, "operation-id": operationId });
  }
  host.onAnswer(record);
}

/** A script goes before a disturbance; without either the real answer is given. */
function planFor(host: Host, { headers, ...received }: Received): Plan {
  const { rivals, behaviour, accounts } = host;
  const about = { store: accounts.storeFor(headers), pageSize: behaviour.pageSize, rivals };
  const plan = host.scripts.take(received.record);
  return plan ?? host.disturbances.draw({ ...received, ...about }) ?? { reply: { afterCommit: true } };
}

function replyOf(scripted: AnsweringReply, real: Answer | undefined, record: RecordedRequest): Reply {
  const { status, headers, cut } = scripted;
  const body = typeof scripted.body === "function" ? scripted.body({ ...real?.body }, record) : scripted.body;
  if (status !== undefined) return { status, headers, body, cut };
  return { status: real?.status ?? 500, headers, body: body ?? real?.body, cut };
}

/** Notes the request when its head is there, so that the log is in order of arrival, and reads its body. */
async function receive(host: Host, request: IncomingMessage): Promise<Received> {
  const arrival = host.clock.now();
  const operationId = `op_${base62()}`;
  const url = new URL(`http://emulator${request.url?.startsWith("/") ? request.url : `/${request.url}`}`);
  const inside = url.pathname.startsWith(`${host.basePath}/`);
  const { authorization: _never, ...headers } = request.headers;
  const record: RecordedRequest = {
    method: request.method ?? "",
    path: inside ? url.pathname.slice(host.basePath.length) : url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `${value}`])),
    status: 0,
  };
  host.requests.push(record);
  const text = await readText(request);
  if (text) record.body = parsedOr(text, text);
  return { record, operationId, arrival, inside, headers: request.headers, query: url.searchParams, text };
}

function answer(host: Host, received: Received): Answer {
  const { headers, arrival, inside, operationId } = received;
  const { method, path } = received.record;
  try {
    const key = host.accounts.keyOf(headers);
    const version = headers[host.versionHeader.toLowerCase()];
    if (!version) throw new ServiceError(218, host.versionHeader);
    if (version !== "2") throw new ServiceError(217, `${version}`);
    host.rate?.admit(arrival);
    if (!inside) throw new ServiceError(222, path);
    const { route, id, takesBody } = routeOf(method, path);
    const body = bodyOf(received, takesBody);
    return route.run({
      key,
      behaviour: host.behaviour,
      id,
      body,
      query: readQuery(received.query, route.query),
    });
  } catch (error) {
    const known = error instanceof ServiceError ? error : new ServiceError(20000, String(error));
    return known.answer(operationId);
  }
}

function bodyOf({ record, headers, text }: Received, takesBody: boolean): Record<string, unknown> {
  if (text === undefined) throw new ServiceError(212, MAX_BODY);
  if (!takesBody) {
    if (text) throw new ServiceError(211, record.method);
    return {};
  }
  const type = headers["content-type"];
  if (!type) throw new ServiceError(216);
  if (!/^application\/json\s*(;|$)/i.test(type)) throw new ServiceError(210, type);
  const body = parsedOr(text, undefined);
  if (body === undefined) throw new ServiceError(213, "it is not JSON");
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new ServiceError(213, "it is not an object");
  }
  return body as Record<string, unknown>;
}

/** Reads to the end even what is too large, since a client that is cut off while it sends never sees the answer. */
async function readText(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY) chunks.push(chunk);
  }
  return size > MAX_BODY ? undefined : Buffer.concat(chunks).toString("utf8");
}

function parsedOr(text: string, otherwise: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}

/** An answer as it leaves. */
interface Reply {
  status: number;
  /** Set over those that the server sets by itself; `null` leaves one out. */
  headers?: Headers | undefined;
  /** Text is sent as it is, an object as JSON with its content type. Default: an empty body. */
  body?: string | object | undefined;
  /** An empty body cannot be cut: such a reply is sent whole. */
  cut?: Cut | undefined;
}

/**
 * In milliseconds. A client that finds a reset together with data reads the data and then sees an orderly end. One in
 * this process has read the data when an immediate that follows a timer runs, however late the timer is.
 */
const RESET_AFTER = 20;

/** Sends a reply. */
function send(response: ServerResponse, reply: Reply, own: Headers): void {
  const { status, headers = {}, body = "", cut } = reply;
  const payload = Buffer.from(typeof body === "object" ? JSON.stringify(body) : body);
  response.statusCode = status;
  response.sendDate = false;
  if (typeof body === "object") response.setHeader("content-type", "application/json");
  for (const [name, value] of [...Object.entries(own), ...Object.entries(headers)]) {
    if (value === null) response.removeHeader(name);
    else response.setHeader(name, value);
  }
  if (cut && payload.length > 0) sendHalf(response, payload, cut);
  else response.end(payload);
}

function sendHalf(response: ServerResponse, payload: Buffer, cut: Cut): void {
  const { socket } = response;
  response.setHeader("content-length", payload.length);
  // Half of a single byte is nothing, and writing nothing would not send the head.
  response.flushHeaders();
  response.write(payload.subarray(0, Math.floor(payload.length / 2)), () => {
    if (cut === "end") socket?.destroySoon();
    if (cut === "reset") setTimeout(() => setImmediate(() => socket?.resetAndDestroy()), RESET_AFTER);
  });
}
