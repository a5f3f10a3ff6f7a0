import { afterEach, expect } from "vitest";
import type { WireEndpoint } from "../../../../provider/api/contract";
import { Emulator, type EmulatorOptions } from "../../../../sdk/testing/emulator";

export interface Reply<Body> {
  status: number;
  headers: Headers;
  body: Body;
}

const running: Emulator[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((emulator) => emulator.close()));
});

/** An emulator that the end of the test closes. */
export async function start(options?: EmulatorOptions): Promise<Emulator> {
  const emulator = await Emulator.start(options);
  running.push(emulator);
  return emulator;
}

export interface Sent {
  body?: unknown;
  /** Sent as it is, in place of `body`. */
  text?: string;
  /** Headers to set; `null` leaves out one that is otherwise sent. */
  headers?: Record<string, string | null>;
}

/** One request as a good client sends it, but for what `sent` changes. */
export async function call<Body = WireEndpoint>(
  emulator: Emulator,
  method: string,
  path: string,
  { body, text = body === undefined ? undefined : JSON.stringify(body), headers = {} }: Sent = {},
): Promise<Reply<Body>> {
  const all = {
    authorization: `Bearer ${emulator.apiKey}`,
    [emulator.versionHeader.toLowerCase()]: "2",
    ...(text === undefined ? {} : { "content-type": "application/json" }),
    ...headers,
  };
  const kept = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null);
  // As bytes, since fetch gives text a content type of its own.
  const payload = text === undefined ? {} : { body: new TextEncoder().encode(text) };
  const reply = await fetch(emulator.baseUrl + path, { method, headers: kept, ...payload });
  const answered = await reply.text();
  return {
    status: reply.status,
    headers: reply.headers,
    body: (answered === "" ? undefined : JSON.parse(answered)) as Body,
  };
}

export interface Refusal {
  error_code: string;
  status_code: number;
  msg: string;
  details: { operation_id: string };
}

/** The answer must be a refusal in the service's shape with this code and status. */
export function expectRefusal(reply: Reply<unknown>, code: number, status: number): void {
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
