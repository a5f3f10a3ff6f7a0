import { type Dispatcher, request } from "undici";
import { expect } from "vitest";
import type { WireEndpoint } from "../../../provider/service/contract";
import type { Emulator, EmulatorOptions, Seed } from "../../../sdk/testing/emulator";
import { emulatedService } from "../../emulatedService";

interface Sent {
  body?: unknown;
  /** A body that is not JSON. */
  text?: string;
  /** Additional headers. `null` removes a default header. */
  headers?: Record<string, string | null>;
}

/** The part of a reply that arrived. */
export interface Reply {
  /** Undefined if no reply arrived. */
  status?: number;
  headers: Record<string, string | string[] | undefined>;
  /** The part of the body that arrived. */
  text: string;
  /** Undefined if the reply is complete. Otherwise a code of undici or of the system, or `TimeoutError`. */
  error?: string;
}

/** The milliseconds to wait for a reply that must arrive. */
const PATIENCE = 10_000;
/** The milliseconds to wait if no reply may arrive. */
export const SHORT = 200;

/** The client's error for each kind of failed connection. */
export const failure = { reset: "ECONNRESET", closed: "UND_ERR_SOCKET", silence: "TimeoutError" };

/** Sends a request and waits for the reply for `patience` milliseconds. Never throws. */
export async function send(
  emulator: Emulator,
  method: string,
  path: string,
  { body, text = body === undefined ? undefined : JSON.stringify(body), headers = {} }: Sent = {},
  patience = PATIENCE,
): Promise<Reply> {
  const all = {
    authorization: `Bearer ${emulator.apiKey}`,
    [emulator.versionHeader.toLowerCase()]: "2",
    ...(text === undefined ? {} : { "content-type": "application/json" }),
    ...headers,
  };
  const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
  const reply: Reply = { headers: {}, text: "" };
  const leaving = new AbortController();
  const isOver = giveUpAfter(patience, leaving);
  try {
    const { statusCode, headers, body } = await request(emulator.baseUrl + path, {
      method: method as Dispatcher.HttpMethod,
      headers: kept,
      signal: leaving.signal,
      ...(text !== undefined && { body: text }),
    });
    Object.assign(reply, { status: statusCode, headers });
    for await (const chunk of body) reply.text += String(chunk);
  } catch (error) {
    reply.error = nameOf(error);
  }
  isOver();
  return reply;
}

/** Aborts after many short timers, not a single long timer, so that a busy machine still reads a late reply between them. */
function giveUpAfter(patience: number, leaving: AbortController): () => void {
  let left = patience / 10;
  const timer = setInterval(() => {
    if (--left <= 0) leaving.abort(new DOMException("no reply", "TimeoutError"));
  }, 10);
  return () => clearInterval(timer);
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

/** An emulator with numbered endpoints, and with a clock that only `pass` moves. */
export class EmulatorFixture {
  private readonly ids: string[] = [];
  private constructor(
    readonly emulator: Emulator,
    /** Moves the clock, by milliseconds. */
    readonly pass: (milliseconds: number) => void,
  ) {}

  static async start(options: EmulatorOptions = {}): Promise<EmulatorFixture> {
    let time = Date.parse("2026-01-02T03:04:05.600Z");
    const emulator = await emulatedService({ ...options, now: () => new Date(time) });
    return new EmulatorFixture(emulator, (milliseconds) => {
      time += milliseconds;
    });
  }

  seed(seed: Seed, account?: string): WireEndpoint {
    const endpoint = this.emulator.seed(seed, account);
    this.ids.push(endpoint.id);
    return endpoint;
  }

  /** The id of the endpoint with this number. The first created or seeded endpoint has the number 1. */
  id = (number: number): string => this.ids[number - 1] ?? `no endpoint ${number}`;

  /**
   * Sends a request and compares the reply. A refused request must have no effect.
   *
   * @param wanted A status; a status and a code of the service; parts of the body; or the numbers of the endpoints in a list.
   */
  async exchange([line, sent, wanted]: Exchange): Promise<void> {
    const { emulator } = this;
    const before = emulator.endpoints;
    const [method = "", target = ""] = line.split(" ");
    const isNumber = /^\d+$/.test(target);
    const path = isNumber
      ? `/endpoints/${this.id(Number(target))}`
      : target.replace(/^(?=\?|$)/, "/endpoints");
    const named = path.replace(/#(\d+)/, (_, number) => this.id(Number(number)));
    const { status = 0, headers, text, error } = await send(emulator, method, named, sentOf(sent));
    if (error) throw new Error(`${line}: ${error}`);
    const body = text === "" ? undefined : JSON.parse(text);
    if (method === "POST" && status === 201) this.ids.push(body.id);
    if (typeof wanted === "number") expect([line, status, body]).toEqual([line, wanted, body]);
    else if (Array.isArray(wanted))
      expect([line, body.endpoints.map(({ id }: WireEndpoint) => this.ids.indexOf(id) + 1)]).toEqual([
        line,
        wanted,
      ]);
    else if (typeof wanted === "object") {
      const [present, missing] = [true, false].map((isWanted) =>
        Object.entries(wanted).filter(([, value]) => (value !== undefined) === isWanted),
      );
      expect([line, body]).toMatchObject([line, Object.fromEntries(present ?? [])]);
      for (const [field] of missing ?? []) expect(body).not.toHaveProperty(field);
    } else {
      const [refused, code] = wanted.split(" ");
      const operation_id = expect.stringMatching(/^op_\w{27}$/);
      const common = { status_code: status, msg: expect.stringMatching(/\S/), details: { operation_id } };
      const error = { ...(code && { error_code: `ERR_NGROK_${code}` }), ...common };
      expect([line, `${status}`, body]).toEqual([line, refused, error]);
      expect(body.details.operation_id).toBe(headers["operation-id"]);
    }
    if (status >= 400) expect(emulator.endpoints).toEqual(before);
  }
}

/**
 * A request, its body and its reply. The request is a method and, without `/endpoints`, the path, the number of an endpoint, or a
 * query.
 */
export type Exchange = [request: string, body: unknown, reply: number | string | object];

/** A body, or an object with `headers` or `text`. */
function sentOf(sent: unknown): Sent {
  const isWhole = typeof sent === "object" && sent !== null && ("headers" in sent || "text" in sent);
  return isWhole ? (sent as Sent) : { body: sent };
}
