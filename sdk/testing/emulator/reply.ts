import type { ServerResponse } from "node:http";

/**
 * How a body ends after its first half: the connection is closed in order (`end`), reset (`reset`), or left open
 * with nothing more to come (`stall`). The head has promised the whole body.
 */
export type Cut = "end" | "reset" | "stall";

export type Headers = Record<string, string | null>;

/** An answer as it leaves. */
export interface Reply {
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
export function send(response: ServerResponse, reply: Reply, own: Headers): void {
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
