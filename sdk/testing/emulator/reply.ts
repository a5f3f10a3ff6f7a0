import type { ServerResponse } from "node:http";

/**
 * How a body ends after its first half: the connection is closed in order (`end`), reset (`reset`), or left open
 * with nothing more to come (`stall`). The head has promised the whole body.
 */
export type Cut = "end" | "reset" | "stall";

/** An answer as it leaves. */
export interface Reply {
  status: number;
  /** Set over those that the server sets by itself. */
  headers?: Record<string, string>;
  /** Text is sent as it is, an object as JSON with its content type. Default: an empty body. */
  body?: string | object;
  /** An empty body cannot be cut: such a reply is sent whole. */
  cut?: Cut;
}

/**
 * In milliseconds. A client that finds a reset together with data reads the data and then sees an orderly end. One in
 * this process has read the data when an immediate that follows a timer runs, however late the timer is.
 */
const RESET_AFTER = 20;

/** Sends a reply. `date` is the service's time, which need not be this machine's. */
export function send(response: ServerResponse, reply: Reply, operationId: string, date: Date): void {
  const { status, headers = {}, body = "", cut } = reply;
  const payload = Buffer.from(typeof body === "object" ? JSON.stringify(body) : body);
  response.statusCode = status;
  response.sendDate = false;
  response.setHeader("date", date.toUTCString());
  // The public service documents operation ids for errors only; here they tell any two answers apart.
  response.setHeader("operation-id", operationId);
  if (typeof body === "object") response.setHeader("content-type", "application/json");
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
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
