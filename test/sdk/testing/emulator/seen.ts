import { request } from "undici";
import type { Emulator } from "../../../../sdk/testing/emulator";

/** What a client got of an answer. Without a status it got none; with an `error` it did not get all of it. */
export interface Seen {
  status?: number;
  headers: Record<string, string | string[] | undefined>;
  /** As much of the body as came. */
  text: string;
  /** undici's code or the system's, or `TimeoutError`. */
  error?: string;
}

/** What is given to an answer that is to come, and to one that is not: a busy machine can be slow. In ms. */
const PATIENCE = 10_000;
export const SHORT = 400;

/** One request as a good client sends it, that gives up when its patience ends. Never throws. */
export async function see(
  emulator: Emulator,
  method: string,
  path: string,
  body?: object,
  patience = PATIENCE,
): Promise<Seen> {
  const headers = {
    authorization: `Bearer ${emulator.apiKey}`,
    [emulator.versionHeader]: "2",
    ...(body ? { "content-type": "application/json" } : {}),
  };
  // undici's own timeouts are only good to a second.
  const signal = AbortSignal.timeout(patience);
  const payload = body ? { body: JSON.stringify(body) } : {};
  const seen: Seen = { headers: {}, text: "" };
  try {
    const reply = await request(emulator.baseUrl + path, { method, headers, signal, ...payload });
    seen.status = reply.statusCode;
    seen.headers = reply.headers;
    for await (const chunk of reply.body) seen.text += String(chunk);
  } catch (error) {
    seen.error = nameOf(error);
  }
  return seen;
}

/** A client's error for each way in which a connection fails. */
export const failure = {
  reset: "ECONNRESET",
  closed: "UND_ERR_SOCKET",
  silence: "TimeoutError",
};

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
