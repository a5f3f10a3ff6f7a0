import type { RequestName } from "./apiErrors";

/**
 * With `ENDPOINTS_LOG=requests`, one line a request: method, path, status, the service's code and operation
 * id, time. Headers, queries and bodies are not in it, so neither is the key nor anybody's policy.
 */
export function traceRequest(
  request: RequestName,
  reply: { status: number; code?: string | undefined; operationId?: string | undefined } | undefined,
  milliseconds: number,
  write: (line: string) => void,
): void {
  if (process.env["ENDPOINTS_LOG"] !== "requests") return;
  const outcome = reply
    ? [reply.status, reply.code, reply.operationId].filter(Boolean).join(" ")
    : "no answer";
  write(`endpoints: ${request.method} ${request.path} ${outcome} ${Math.round(milliseconds)} ms`);
}
