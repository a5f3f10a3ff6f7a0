import { closeSync, constants, openSync, writeSync } from "node:fs";
import { oneLine } from "./text";

/*
 * `ENDPOINTS_LOG`: a line for each request. It has no header, query, body or key, and nothing of a reply but its status, code,
 * operation id and endpoint id.
 */

export interface TracedRequest {
  /** When it was sent, in milliseconds since 1970. */
  sentAt: number;
  milliseconds: number;
  method: string;
  /** The endpoint's id, or `list`. */
  id?: string | undefined;
  /** Undefined if there was no complete reply. */
  status?: number;
  code?: string | undefined;
  operationId?: string | undefined;
  /** The resource's URN, or else the endpoint's URL. */
  resource: string | undefined;
}

const { O_APPEND, O_CREAT, O_NONBLOCK, O_WRONLY } = constants;

const ACCEPTED =
  "ENDPOINTS_LOG is neither `requests` nor the path of a file with a slash, such as /var/log/endpoints.log, so requests are not logged";

/**
 * Writes each request to where `ENDPOINTS_LOG` says. A log that cannot be written is reported once and never fails a request.
 *
 * @param write Receives the lines of `ENDPOINTS_LOG=requests`.
 */
export function tracer(write: (line: string) => void, warn: (message: string) => void) {
  let isReported = false;
  return (request: TracedRequest): void => {
    const target = process.env["ENDPOINTS_LOG"];
    if (!target) return;
    const line = lineOf(request);
    if (target === "requests") {
      write(`endpoints: ${line}`);
      return;
    }
    const problem = target.includes("/") ? append(target, line) : ACCEPTED;
    if (problem !== undefined && !isReported) warn(problem);
    isReported ||= problem !== undefined;
  };
}

/** One write for each line, so that the lines of several processes do not mix. */
function append(file: string, line: string): string | undefined {
  try {
    // A pipe that nobody reads would stop the provider, and Pulumi would keep its lock.
    const flags = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK;
    const log = openSync(file, flags, 0o600);
    try {
      writeSync(log, `${line}\n`);
    } finally {
      closeSync(log);
    }
    return undefined;
  } catch (error) {
    return `the file of ENDPOINTS_LOG cannot be written, so requests are not logged: ${oneLine(String(error))}`;
  }
}

/** The resource is last, because its name can contain spaces. */
function lineOf({
  sentAt,
  milliseconds,
  method,
  id,
  status,
  code,
  operationId,
  resource,
}: TracedRequest): string {
  return [
    new Date(sentAt).toISOString(),
    method,
    word(id),
    status ?? "no-answer",
    word(code),
    word(operationId),
    `${Math.round(milliseconds)}ms`,
    resource === undefined ? "-" : oneLine(resource, 1000),
  ].join(" ");
}

/** A reply's text of another form could be anything. */
const word = (text: string | undefined) => (text !== undefined && /^[\w.-]{1,100}$/.test(text) ? text : "-");
