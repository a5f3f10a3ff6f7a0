import { appendFileSync } from "node:fs";
import { oneLine } from "../data/index";
import type { RequestName } from "./apiErrors";
import { withoutKeys } from "./redaction";

/** A request in the log. It has no header, query, body or key, and nothing of a reply but its status and operation id. */
export interface LoggedRequest extends RequestName {
  /** When it was sent, in milliseconds since 1970. */
  sentAt: number;
  /** Undefined if there was no complete reply. */
  status?: number;
  operationId?: string | undefined;
}

/**
 * Writes a line for each request to where `ENDPOINTS_LOG` says. A log that cannot be written is reported once and never fails a
 * request.
 *
 * @param write Receives the lines of `ENDPOINTS_LOG=requests`.
 */
export function requestLog(write: (line: string) => void, warn: (message: string) => void) {
  let isReported = false;
  return ({ sentAt, method, path, status, operationId = "-" }: LoggedRequest, now: number): void => {
    const target = process.env["ENDPOINTS_LOG"];
    if (!target) return;
    const time = new Date(sentAt).toISOString();
    // A reply's text of another form could be anything.
    const operation = /^[\w.-]{1,100}$/.test(operationId) ? operationId : "-";
    const line = `${time} ${method} ${withoutKeys(path)} ${status ?? "no-answer"} ${Math.round(now - sentAt)}ms ${operation}`;
    try {
      if (target === "requests") write(`endpoints: ${line}`);
      else if (target.includes("/")) appendFileSync(target, `${line}\n`, { mode: 0o600 });
      else throw new Error("it is neither `requests` nor the path of a file with a slash");
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!isReported) warn(`requests are not logged to ENDPOINTS_LOG: ${oneLine(reason)}`);
      isReported = true;
    }
  };
}
