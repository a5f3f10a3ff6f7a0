import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import type { RecordedRequest } from "../../test-engine/index";
import { type Behaviour, reportedTime } from "./behaviour";
import type { FaultSource, RecordedFault } from "./faults";
import type { ServiceAccounts } from "./keys";
import { base62 } from "./random";
import { type Answer, readQuery, routeOf } from "./routes";
import {
  type Cut,
  type Handling,
  type ReplyHeaders,
  type ReplyWithAnswer,
  type Script,
  takeScript,
} from "./script";
import type { EmulatedClock, RateWindow } from "./serviceClock";
import { ServiceError } from "./serviceErrors";

const MAX_BODY = 5 * 1024 * 1024;

/** The state of the emulated service, which all requests share. */
export interface Service {
  accounts: ServiceAccounts;
  behaviour: Behaviour;
  versionHeaders: readonly string[];
  /** The prefix of every path. Empty, or `/…`. */
  basePath: string;
  scripts: Script[];
  faultSource: FaultSource | undefined;
  faults: RecordedFault[];
  requests: RecordedRequest[];
  onAnswer: (request: RecordedRequest) => void;
  clock: EmulatedClock;
  rate: RateWindow | undefined;
  closing: AbortController;
}

interface Received {
  record: RecordedRequest;
  operationId: string;
  /** The arrival of its head, in milliseconds by the service's clock. */
  arrival: number;
  /** Whether the path is below the base path. */
  inside: boolean;
  headers: IncomingHttpHeaders;
  query: URLSearchParams;
  /** Undefined if the body was too large. */
  text: string | undefined;
}

/**
 * Records each request, then looks for a script or draws a fault. Unless that prevents the effect, it checks the API key, the
 * version, the rate limit, the route, the body and the service's rules, in this order. Never throws.
 */
export function listener(service: Service): RequestListener {
  return (request, response) => {
    handle(service, request, response).catch(() => response.destroy());
  };
}

async function handle(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const received = await receive(service, request);
  const { record, operationId } = received;
  service.clock.catchUp();
  // A script has priority over a drawn fault. Without either, the client gets the real reply.
  const handling: Handling | undefined = takeScript(service.scripts, record) ?? service.faultSource?.(record);
  const { reply: scripted, onEffect } = handling ?? { reply: { afterCommit: true } };
  const perform = (rate?: RateWindow) => {
    const done = answer({ ...service, rate }, received);
    onEffect?.(done.status < 400);
    return done;
  };
  scripted.before?.(record);
  const real = scripted.afterCommit ? perform(service.rate) : undefined;
  scripted.after?.(record);
  if (!real) service.rate?.count(received.arrival);
  if (scripted.lateMs !== undefined) service.clock.schedule(scripted.lateMs, perform);
  if (scripted.delayMs) await wait(scripted.delayMs, undefined, { signal: service.closing.signal });
  if ("reset" in scripted) {
    request.socket.resetAndDestroy();
  } else if (!("hang" in scripted)) {
    const reply = replyOf(scripted, real, record);
    record.status = reply.status;
    const { behaviour, clock } = service;
    const date = reportedTime(behaviour.date, clock.now(), (time) => time.toUTCString()) ?? null;
    // The public service documents operation ids only for errors. Here each reply has one, to identify it.
    send(response, reply, { date, "operation-id": operationId });
  }
  service.onAnswer(record);
}

function replyOf(scripted: ReplyWithAnswer, real: Answer | undefined, record: RecordedRequest) {
  const { status = real?.status ?? 500, headers = {}, cut } = scripted;
  const body = typeof scripted.body === "function" ? scripted.body({ ...real?.body }, record) : scripted.body;
  return {
    status,
    headers,
    body: body ?? (scripted.status === undefined ? real?.body : undefined) ?? "",
    cut,
  };
}

/** Reads a request. It is recorded before its body is read, so that the log is in order of arrival. */
async function receive(service: Service, request: IncomingMessage): Promise<Received> {
  const arrival = service.clock.now();
  const operationId = `op_${base62()}`;
  const url = new URL(`http://emulator${request.url?.startsWith("/") ? request.url : `/${request.url}`}`);
  const inside = url.pathname.startsWith(`${service.basePath}/`);
  const { authorization: _never, ...headers } = request.headers;
  const record: RecordedRequest = {
    method: request.method ?? "",
    path: inside ? url.pathname.slice(service.basePath.length) : url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `${value}`])),
    status: 0,
  };
  service.requests.push(record);
  const text = await readText(request);
  if (text) record.body = parsedOr(text, text);
  return { record, operationId, arrival, inside, headers: request.headers, query: url.searchParams, text };
}

function answer(service: Service, received: Received): Answer {
  const { headers, arrival, inside, operationId } = received;
  const { method, path } = received.record;
  try {
    const key = service.accounts.keyOf(headers);
    const version = service.versionHeaders.map((name) => headers[name.toLowerCase()]).find(Boolean);
    if (!version) throw new ServiceError(218, service.versionHeaders.join(" or "));
    if (version !== "2") throw new ServiceError(217, `${version}`);
    service.rate?.admit(arrival);
    if (!inside) throw new ServiceError(222, path);
    const { route, id, takesBody } = routeOf(method, path);
    const body = bodyOf(received, takesBody);
    return route.run({
      key,
      behaviour: service.behaviour,
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

/** Reads the whole body even if it is too large, because a client that cannot finish sending does not read the reply. */
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

/**
 * The delay of a reset after the data, in milliseconds. A client that receives both at once reads the data and then sees a
 * regular end. A client in this process has read the data when an immediate runs after a timer, however late the timer.
 */
const RESET_AFTER = 20;

function send(
  response: ServerResponse,
  { status, headers, body, cut }: ReturnType<typeof replyOf>,
  own: ReplyHeaders,
): void {
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
  // Half of a single byte is nothing, and an empty write would not send the headers.
  response.flushHeaders();
  response.write(payload.subarray(0, Math.floor(payload.length / 2)), () => {
    if (cut === "end") socket?.destroySoon();
    if (cut === "reset") setTimeout(() => setImmediate(() => socket?.resetAndDestroy()), RESET_AFTER);
  });
}
