import { type Dispatcher, request } from "undici";
import { afterEach, expect } from "vitest";
import type { WireEndpoint } from "../../../provider/api/contract";
import { Emulator, type EmulatorOptions } from "../../../sdk/testing/emulator";

export interface Reply<Body> {
  status: number;
  headers: Headers;
  body: Body;
}

const running: Emulator[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((emulator) => emulator.close()));
});

/** Starts an emulator and closes it after the test. */
export async function start(options?: EmulatorOptions): Promise<Emulator> {
  const emulator = await Emulator.start(options);
  running.push(emulator);
  return emulator;
}

/** An emulator with a clock that only `pass` moves, by milliseconds. */
export async function frozen(options: EmulatorOptions = {}) {
  let time = Date.parse("2026-01-02T03:04:05.600Z");
  const emulator = await start({ ...options, now: () => new Date(time) });
  const pass = (milliseconds: number) => {
    time += milliseconds;
  };
  return { emulator, pass };
}

export interface Sent {
  body?: unknown;
  /** A body that is not JSON. */
  text?: string;
  /** Additional headers. `null` removes a header that is usually sent. */
  headers?: Record<string, string | null>;
}

/**
 * Sends a request and parses the answer.
 *
 * @throws Error if there is no complete answer.
 */
export async function call<Body = WireEndpoint>(
  emulator: Emulator,
  method: string,
  path: string,
  sent?: Sent,
): Promise<Reply<Body>> {
  const { status = 0, headers, text, error } = await exchange(emulator, method, path, sent);
  if (error) throw new Error(error);
  const body = (text === "" ? undefined : JSON.parse(text)) as Body;
  return { status, headers: new Headers(headers as Record<string, string>), body };
}

export interface List {
  endpoints: WireEndpoint[];
  uri: string;
  next_page_uri: string | null;
}

/** One page of the list. */
export const list = async (emulator: Emulator, query = "", sent?: Sent): Promise<List> =>
  (await call<List>(emulator, "GET", `/endpoints${query}`, sent)).body;

/** All pages, read by following `next_page_uri`. */
export async function pagesOf(emulator: Emulator, query = ""): Promise<WireEndpoint[][]> {
  const pages: WireEndpoint[][] = [];
  for (let next: string | null = query; next !== null; ) {
    const page: List = await list(emulator, next);
    pages.push(page.endpoints);
    expect(page.next_page_uri ?? emulator.baseUrl).toContain(emulator.baseUrl);
    expect(pages.length).toBeLessThan(100);
    next = page.next_page_uri?.slice(`${emulator.baseUrl}/endpoints`.length) ?? null;
  }
  return pages;
}

export const idsOf = (endpoints: WireEndpoint[]) => endpoints.map(({ id }) => id);

export interface ErrorBody {
  error_code: string;
  status_code: number;
  msg: string;
  details: { operation_id: string };
}

/** Expects an error of the service with this code and status. */
export function expectError(reply: Reply<unknown>, code: number, status: number): void {
  expect(reply.body).toEqual({
    error_code: `ERR_NGROK_${code}`,
    status_code: status,
    msg: expect.stringMatching(/\S/),
    details: { operation_id: expect.stringMatching(/^op_\w{27}$/) },
  });
  expect(reply.status).toBe(status);
}

export async function create(emulator: Emulator, body: object): Promise<WireEndpoint> {
  const reply = await call(emulator, "POST", "/endpoints", { body });
  expect(reply.status, JSON.stringify(reply.body)).toBe(201);
  return reply.body;
}

export const tryCreate = (emulator: Emulator, body: unknown) =>
  call(emulator, "POST", "/endpoints", { body });

/** The part of an answer that arrived. */
export interface Answer {
  /** Undefined if no answer arrived. */
  status?: number;
  headers: Record<string, string | string[] | undefined>;
  /** The part of the body that arrived. */
  text: string;
  /** Undefined if the answer is complete. Otherwise a code of undici or of the system, or `TimeoutError`. */
  error?: string;
}

/** How long to wait for an answer that must arrive. Unit: milliseconds. */
const PATIENCE = 10_000;
/** How long to wait if no answer must arrive. Unit: milliseconds. */
export const SHORT = 400;

/** Sends a request and waits for the answer for `patience` milliseconds. Never throws. */
export const send = (emulator: Emulator, method: string, path: string, body?: object, patience?: number) =>
  exchange(emulator, method, path, { body }, patience);

async function exchange(
  emulator: Emulator,
  method: string,
  path: string,
  { body, text = body === undefined ? undefined : JSON.stringify(body), headers = {} }: Sent = {},
  patience = PATIENCE,
): Promise<Answer> {
  const all = {
    authorization: `Bearer ${emulator.apiKey}`,
    [emulator.versionHeader.toLowerCase()]: "2",
    ...(text === undefined ? {} : { "content-type": "application/json" }),
    ...headers,
  };
  const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
  const answer: Answer = { headers: {}, text: "" };
  const leaving = new AbortController();
  const isOver = giveUpAfter(patience, leaving);
  try {
    const reply = await request(emulator.baseUrl + path, {
      method: method as Dispatcher.HttpMethod,
      headers: kept,
      signal: leaving.signal,
      ...(text !== undefined && { body: text }),
    });
    answer.status = reply.statusCode;
    answer.headers = reply.headers;
    for await (const chunk of reply.body) answer.text += String(chunk);
  } catch (error) {
    answer.error = nameOf(error);
  }
  isOver();
  return answer;
}

/** Counts short timers instead of one long one, so that an answer that a busy machine delays is still read between them. */
function giveUpAfter(patience: number, leaving: AbortController): () => void {
  let left = patience / 10;
  const timer = setInterval(() => {
    if (--left <= 0) leaving.abort(new DOMException("no answer", "TimeoutError"));
  }, 10);
  return () => clearInterval(timer);
}

/** The client's error for each kind of failed connection. */
export const failure = {
  reset: "ECONNRESET",
  closed: "UND_ERR_SOCKET",
  silence: "TimeoutError",
};

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
