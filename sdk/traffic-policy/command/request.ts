import { isIP } from "node:net";
import { jsonOf } from "../../../provider/data/json";
import { UsageError } from "../../../provider/data/userError";
import { type CommandIo, EXIT, writeResult } from "../../io";
import { requestDeps, requestOf } from "../answer/routing";
import { answerRequest } from "../answer/runner";
import { RequestFailed, traceText } from "../answer/trace";
import { namesOfExpressions } from "../policy/cel";
import { warningsOfOne } from "../policy/files";
import { assertUsableFiles, policiesOf, textLine } from "./check";

/** The options as the user wrote them. Mistakes in them are usage errors. */
interface RequestOptions {
  /** Each a name and a value: `X-Role: admin`. */
  header?: readonly string[] | undefined;
  body?: string | undefined;
  clientIp?: string | undefined;
  /** Each a variable below `conn` and its value: `geo.country_code=DE`. */
  conn?: readonly string[] | undefined;
  /** Each a vault, a name and a value: `hooks/github=VALUE`. */
  vault?: readonly string[] | undefined;
  json?: string | undefined;
}

/** Splits an option's text. @throws UsageError without the text, which may be secret. */
function partsOfText(text: string, form: RegExp, mistake: string): string[] {
  const parts = form.exec(text)?.slice(1);
  if (parts) return parts;
  throw new UsageError(mistake);
}

/** A variable below `conn` and its value in the documented type. Values that are not text are written as JSON. */
function connValue(text: string): [name: string, value: unknown] {
  const mistake = "--conn takes a documented variable below conn and its value: geo.country_code=DE";
  const [path = "", written = ""] = partsOfText(text, /^(?:conn\.)?([\w.]+)=(.*)$/s, mistake);
  const name = `conn.${path}`;
  const type = namesOfExpressions().variables.get(name);
  if (type === undefined) throw new UsageError(mistake);
  if (type === "string") return [path, written];
  const value = jsonOf(written);
  const isOfType = type === "int" ? Number.isInteger(value) : type !== "bool" || typeof value === "boolean";
  if (value === undefined || !isOfType)
    throw new UsageError(`--conn needs a value for ${name} that is JSON of the type ${type}`);
  return [path, type === "timestamp" ? new Date(String(value)) : value];
}

function vaultsOf(values: readonly string[]): Record<string, Record<string, string>> {
  const vaults: Record<string, Record<string, string>> = {};
  for (const text of values) {
    const mistake = "--vault takes a vault, a name and a value: hooks/github=VALUE";
    const [vault = "", name = "", value = ""] = partsOfText(text, /^([^/=]+)\/([^/=]+)=(.+)$/s, mistake);
    vaults[vault] = { ...vaults[vault], [name]: value };
  }
  return vaults;
}

const NO_REQUEST = "a request has a method and a URL: GET https://shop.example.com/admin";

/**
 * Prints what the policy of a file does with a request, and returns the exit code.
 *
 * @throws UsageError for a mistake in the options, and if the files contain no policy, or several.
 */
export async function tryRequest(
  line: string,
  files: readonly string[],
  { header = [], clientIp = "127.0.0.1", body = "", conn = [], vault = [], json }: RequestOptions,
  { stdout, log, name }: CommandIo,
): Promise<number> {
  const [method = "GET", url = ""] = partsOfText(line, /^(?:([A-Za-z]+) +)?(https?:\/\/\S+)$/, NO_REQUEST);
  if (!URL.canParse(url)) throw new UsageError(NO_REQUEST);
  const headers = header.map((text): [name: string, value: string] => {
    const mistake = "--header takes a name and a value: X-Role: admin";
    const [name = "", value = ""] = partsOfText(text, /^([\w-]+):\s*(.*)$/, mistake);
    return [name, value];
  });
  if (!isIP(clientIp)) throw new UsageError("--client-ip takes an IP address");
  const options = { clientIp, conn: Object.fromEntries(conn.map(connValue)), vaults: vaultsOf(vault) };
  assertUsableFiles(files, json);
  const policies = [];
  for (const file of files) policies.push(...(await policiesOf(file)).filter(({ policy }) => policy));
  const [one] = policies;
  if (one === undefined || policies.length > 1)
    throw new UsageError(`a request needs a file with one policy, and there are ${policies.length}`);
  const { origin } = new URL(url);
  // The file does not contain the endpoint to which the policy forwards.
  const elsewhere = (target: string) => ({
    url: target,
    application: async () => ({ status: 0, headers: [], body: Buffer.alloc(0) }),
  });
  try {
    const { reply, trace } = await answerRequest(
      { url: origin, policy: one.policy },
      requestOf(url, { method, headers, body }),
      requestDeps(url, { ...options, rateLimited: false }, elsewhere),
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
    // Shows the warnings, too, because a misspelt key may be the reason.
    for (const warning of warningsOfOne(one, undefined)) log(textLine(one.file, warning));
    log(`${name}: ${message}`);
    return EXIT.failed;
  }
}
