import { isIP } from "node:net";
import { requestOf, sameScheme, typedValue } from "../answer/routing";
import { answerRequest } from "../answer/runner";
import { RequestFailed, traceText } from "../answer/trace";
import { namesOfExpressions } from "../policy/cel";
import { warningsOfOne } from "../policy/files";
import { nameOf, policiesOf, refuseUselessFiles, textLine } from "./check";
import { JSON_OPTION, writeResult } from "./files";
import { type CommandIo, EXIT, type Options, UsageError, type Values } from "./frame";

/* `request`: what a policy would do with a request, without an account. */

/** A method and a URL, from `GET https://shop.example.com/admin`. */
export function requestLine(text: string): { method: string; url: string } {
  const [, method = "GET", url = ""] = /^(?:([A-Za-z]+) +)?(https?:\/\/\S+)$/.exec(text) ?? [];
  if (URL.canParse(url)) return { method, url };
  throw new UsageError("takes a method and a URL: GET https://shop.example.com/admin");
}

export const requestOptions = {
  header: {
    value: "HEADER",
    help: 'a header, as in "X-Role: admin"',
    parse(text: string): [name: string, value: string] {
      const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(text) ?? [];
      if (name !== undefined && value !== undefined) return [name, value];
      throw new UsageError("takes a name and a value: X-Role: admin");
    },
    isRepeatable: true,
  },
  body: { value: "TEXT", help: "the body (default: none)" },
  clientIp: {
    value: "IP",
    help: "the client's address",
    parse(text: string): string {
      if (isIP(text)) return text;
      throw new UsageError("takes an IP address");
    },
    default: "127.0.0.1",
  },
  conn: {
    value: "NAME=VALUE",
    help: "a variable below conn, as in geo.country_code=DE",
    parse: connValue,
    isRepeatable: true,
  },
  vault: {
    value: "V/NAME=VALUE",
    help: "a value in one of the service's vaults",
    parse(text: string): VaultValue {
      const [, vault, name, value] = /^([^/=]+)\/([^/=]+)=(.+)$/s.exec(text) ?? [];
      if (vault === undefined || name === undefined || value === undefined)
        throw new UsageError("takes a vault, a name and a value: hooks/github=VALUE");
      return { vault, name, value };
    },
    isRepeatable: true,
  },
  json: JSON_OPTION,
} as const satisfies Options;

interface VaultValue {
  vault: string;
  name: string;
  value: string;
}

/** The value of a variable in its documented type. That of a list is JSON. */
function connValue(text: string): [name: string, value: unknown] {
  const [, path = "", written = ""] = /^([\w.]+)=(.*)$/s.exec(text) ?? [];
  const name = `conn.${path.replace(/^conn\./, "")}`;
  const type = namesOfExpressions().variables.get(name);
  if (type === undefined)
    throw new UsageError("takes a documented variable below conn and its value: geo.country_code=DE");
  if (type === "string") return [name, written];
  const value = valueOfJson(written);
  const isOfType = type === "int" ? Number.isInteger(value) : type !== "bool" || typeof value === "boolean";
  if (value === undefined || !isOfType)
    throw new UsageError(`needs a value for ${name} that is ${TYPES[type] ?? "JSON"}`);
  return [name, type === "timestamp" ? new Date(String(value)) : value];
}

const TYPES: Readonly<Record<string, string>> = {
  int: "a whole number",
  bool: "true or false",
  "list<string>": 'a list of texts as JSON, ["a"]',
  timestamp: 'a time in quotes, "2026-01-02T03:04:05Z"',
};

function valueOfJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function vaultsOf(values: readonly VaultValue[]): Record<string, Record<string, string>> {
  const vaults: Record<string, Record<string, string>> = {};
  for (const { vault, name, value } of values) vaults[vault] = { ...vaults[vault], [name]: value };
  return vaults;
}

/**
 * Prints what the policy of a file does with a request, and returns the exit code.
 *
 * @throws UsageError if the files contain no policy, or several.
 */
export async function tryRequest(
  { method, url }: ReturnType<typeof requestLine>,
  files: readonly string[],
  { header: headers, clientIp, body = "", conn, vault, json }: Values<typeof requestOptions>,
  { stdout, log, name }: CommandIo,
): Promise<number> {
  refuseUselessFiles(files, json);
  const policies = [];
  for (const file of files)
    policies.push(...(await policiesOf(file)).map((one) => ({ ...one, file: nameOf(file) })));
  const [one] = policies;
  if (one === undefined || policies.length > 1)
    throw new UsageError(`a request needs a file with one policy, and there are ${policies.length}`);
  const { origin } = new URL(url);
  // Where the policy forwards to is not in this file.
  const elsewhere = async () => ({ status: 0, headers: [], body: Buffer.alloc(0) });
  try {
    const { reply, trace } = await answerRequest(
      { url: origin, policy: one.policy },
      requestOf(url, { method, headers: [...headers], body }),
      {
        clientIp,
        given: Object.fromEntries(conn.map(([name, value]) => [name, () => typedValue(value)])),
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
    // A misspelt key may be why the reply is not known.
    for (const warning of warningsOfOne(one, undefined)) log(textLine(one.file, warning));
    log(`${name}: ${message}`);
    return EXIT.failed;
  }
}
