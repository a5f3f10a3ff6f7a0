import { isIP } from "node:net";
import { requestOf, sameScheme } from "../testing/runner/account";
import { answerRequest } from "../testing/runner/runner";
import { RequestFailed, traceText } from "../testing/runner/trace";
import { EXIT, type LogLine, type Terminal, UsageError } from "./command";

/* `check-policy --request`: what a policy would do with a request, without an account. */

export interface PolicyRequestOptions {
  /** `GET https://shop.example.com/admin` */
  request: string;
  headers: readonly string[];
  clientIp: string;
  body: string;
  /** `hooks/github=…` */
  vault: readonly string[];
  json: boolean;
}

/** The vaults of `--vault VAULT/NAME=VALUE`. */
export function vaultsOf(given: readonly string[]): Record<string, Record<string, string>> {
  const vaults = new Map<string, Record<string, string>>();
  for (const each of given) {
    const [, vault = "", name = "", value] = /^([^/=]+)\/([^/=]+)=(.+)$/s.exec(each) ?? [];
    if (value === undefined)
      throw new UsageError("--vault takes a vault, a name and a value: hooks/github=VALUE");
    vaults.set(vault, { ...vaults.get(vault), [name]: value });
  }
  return Object.fromEntries(vaults);
}

/** Prints the trace and the reply, and returns the exit code. */
export async function tryRequest(
  policy: object,
  { request: written, headers, clientIp, body: sent, vault, json }: PolicyRequestOptions,
  { stdout, log }: { stdout: Terminal; log: LogLine },
): Promise<number> {
  const [, method, url = ""] = /^(?:([A-Za-z]+) +)?(https?:\/\/\S+)$/.exec(written) ?? [];
  if (!URL.canParse(url))
    throw new UsageError("--request takes a method and a URL: GET https://shop.example.com/admin");
  const pairs = headers.map((header): [string, string] => {
    const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(header) ?? [];
    if (name === undefined || value === undefined)
      throw new UsageError("--header takes a name and a value: X-Role: admin");
    return [name, value];
  });
  if (!isIP(clientIp)) throw new UsageError("--client-ip takes an IP address");
  const { origin } = new URL(url);
  // Where the policy forwards to is not in this file.
  const elsewhere = async () => ({ status: 0, headers: [], body: Buffer.alloc(0) });
  try {
    const { reply, trace } = await answerRequest(
      { url: origin, policy },
      requestOf(url, { ...(method && { method }), headers: pairs, body: sent }),
      {
        clientIp,
        given: {},
        now: () => new Date(),
        vaults: vaultsOf(vault),
        rateLimited: false,
        internal: (target) => sameScheme(url, target) && { url: target, application: elsewhere },
      },
    );
    const { status, headers: received, body } = reply;
    const isHead = method?.toUpperCase() === "HEAD";
    const known = Buffer.isBuffer(body) ? (isHead ? "" : body.toString()) : null;
    const text = known ?? (status > 0 ? "(only the service knows this text)" : "");
    if (json)
      stdout.write(`${JSON.stringify({ status, headers: received, body: known, trace }, undefined, 2)}\n`);
    else {
      const head = status > 0 ? `HTTP ${status}` : "forwarded; the reply is not known here";
      const lines = [
        traceText(trace),
        head,
        ...received.map((header) => header.join(": ")),
        ...(text ? ["", text] : []),
      ];
      stdout.write(`${lines.join("\n")}\n`);
    }
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
    if (json) stdout.write(`${JSON.stringify({ error: error.message, trace: error.trace }, undefined, 2)}\n`);
    else stdout.write(traceText(error.trace));
    log(`pulumi-endpoints check-policy: ${error.message}`);
    return EXIT.failed;
  }
}
