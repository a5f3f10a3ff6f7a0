import { isIP } from "node:net";
import { requestOf, sameScheme } from "../testing/runner/account";
import { answerRequest } from "../testing/runner/runner";
import { RequestFailed, traceText } from "../testing/runner/trace";
import { EXIT, type LogLine, type Option, type Terminal, UsageError } from "./command";
import { writeResult } from "./options";

/* `check-policy --request`: what a policy would do with a request, without an account. */

/** A method and a URL, from `GET https://shop.example.com/admin`. */
export function requestLine(text: string): { method: string; url: string } {
  const [, method = "GET", url = ""] = /^(?:([A-Za-z]+) +)?(https?:\/\/\S+)$/.exec(text) ?? [];
  if (URL.canParse(url)) return { method, url };
  throw new UsageError("takes a method and a URL: GET https://shop.example.com/admin");
}

export function headerPair(text: string): [name: string, value: string] {
  const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw new UsageError("takes a name and a value: X-Role: admin");
}

export const clientIp = {
  value: "IP",
  help: "the client's address",
  parse(text: string): string {
    if (isIP(text)) return text;
    throw new UsageError("takes an IP address");
  },
  default: "127.0.0.1",
  needs: ["request"],
} as const satisfies Option;

export const vaultValue = {
  value: "V/NAME=VALUE",
  help: "a value in one of the service's vaults",
  parse(text: string): VaultValue {
    const [, vault, name, value] = /^([^/=]+)\/([^/=]+)=(.+)$/s.exec(text) ?? [];
    if (vault === undefined || name === undefined || value === undefined)
      throw new UsageError("takes a vault, a name and a value: hooks/github=VALUE");
    return { vault, name, value };
  },
  isRepeatable: true,
  needs: ["request"],
} as const satisfies Option;

interface VaultValue {
  vault: string;
  name: string;
  value: string;
}

function vaultsOf(values: readonly VaultValue[]): Record<string, Record<string, string>> {
  const vaults: Record<string, Record<string, string>> = {};
  for (const { vault, name, value } of values) vaults[vault] = { ...vaults[vault], [name]: value };
  return vaults;
}

interface PolicyRequestOptions {
  request: ReturnType<typeof requestLine>;
  header: readonly [name: string, value: string][];
  clientIp: string;
  body: string | undefined;
  vault: readonly VaultValue[];
  json: string | undefined;
}

/**
 * Prints the trace and the reply, and returns the exit code.
 *
 * @param hints Lines for the log if there is no reply.
 */
export async function tryRequest(
  policy: object,
  { request: { method, url }, header: headers, clientIp, body = "", vault, json }: PolicyRequestOptions,
  hints: () => string[],
  { stdout, log }: { stdout: Terminal; log: LogLine },
): Promise<number> {
  const { origin } = new URL(url);
  // Where the policy forwards to is not in this file.
  const elsewhere = async () => ({ status: 0, headers: [], body: Buffer.alloc(0) });
  try {
    const { reply, trace } = await answerRequest(
      { url: origin, policy },
      requestOf(url, { method, headers: [...headers], body }),
      {
        clientIp,
        given: {},
        now: () => new Date(),
        vaults: vaultsOf(vault),
        rateLimited: false,
        internal: (target) => sameScheme(url, target) && { url: target, application: elsewhere },
      },
    );
    const { status, headers: received, body: sent } = reply;
    const isHead = method.toUpperCase() === "HEAD";
    const known = Buffer.isBuffer(sent) ? (isHead ? "" : sent.toString()) : null;
    const shown = known ?? (status > 0 ? "(only the service knows this text)" : "");
    const lines = [
      traceText(trace),
      status > 0 ? `HTTP ${status}` : "forwarded; the reply is not known here",
      ...received.map((pair) => pair.join(": ")),
      ...(shown ? ["", shown] : []),
    ];
    writeResult({ status, headers: received, body: known, trace }, `${lines.join("\n")}\n`, json, stdout);
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
    const { message, trace } = error;
    writeResult({ error: message, trace }, traceText(trace), json, stdout);
    for (const hint of hints()) log(hint);
    log(`pulumi-endpoints check-policy: ${message}`);
    return EXIT.failed;
  }
}
