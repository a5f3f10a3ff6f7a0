import type { Headers } from "./schemes";
import type { Target } from "./target";

/** A request as policies see it. */
export interface Visit {
  method: string;
  target: Target;
  /** `1.1` */
  version: string;
  headers: Headers;
  /** The headers by lower-case name, each value by itself. */
  headerLists: Readonly<Record<string, readonly string[] | undefined>>;
  body: Buffer;
}

/** What expressions can ask for, under the names that the service's documentation gives. Each has a single value. */
export const VALUES: ReadonlySet<string> = new Set([
  "req.method",
  "req.host",
  "req.version",
  "req.user_agent",
  "req.content_type",
  "req.content_length",
  "req.url.host",
  "req.url.path",
  "req.url.raw_path",
  "req.url.query",
  "actions.ngrok.verify_webhook.verified",
  "actions.ngrok.verify_webhook.error.code",
  "actions.ngrok.verify_webhook.error.message",
]);

/** These hold lists by name. */
export const MAPS: ReadonlySet<string> = new Set(["req.headers", "req.cookies", "req.url.query_params"]);

/** Maps and not objects, in which names such as `constructor` would be found. */
export interface Values extends Map<string, Value> {}
export type Value = string | bigint | boolean | Value[] | Values;
type Lists = Map<string, string[]>;

export const headerValues = ({ headerLists }: Visit): Lists =>
  new Map(Object.entries(headerLists).map(([name, values = []]) => [name, [...values]]));

export function queryValues({ target }: Visit): Lists {
  const query = new URLSearchParams(target.query);
  return new Map([...query.keys()].map((name) => [name, query.getAll(name)]));
}

/** The variables `req.…` of a request. */
export function requestVariables(visit: Visit): Values {
  const { method, target, version, headers } = visit;
  const length = headers["content-length"];
  const host = headers["host"] ?? "";
  return new Map<string, Value>([
    ["method", method],
    ["host", host],
    ["version", `HTTP/${version}`],
    ["user_agent", headers["user-agent"] ?? ""],
    ["headers", headerValues(visit)],
    ["cookies", cookies(headers["cookie"])],
    ["content_type", headers["content-type"]?.split(";")[0]?.trim() ?? ""],
    // Not there where the sender does not tell, as with a body that is streamed.
    ...(length === undefined ? [] : [["content_length", BigInt(length)] as const]),
    [
      "url",
      new Map<string, Value>([
        ["host", host.replace(/:\d*$/, "")],
        ["path", target.path],
        ["raw_path", target.rawPath],
        ["query", target.query],
        ["query_params", queryValues(visit)],
      ]),
    ],
  ]);
}

/** In the order of the header; one name can stand there several times. */
function cookies(header = ""): Values {
  const found = new Map<string, Value[]>();
  for (const part of header.split(";")) {
    const at = part.indexOf("=");
    if (at < 0) continue;
    const [name, value] = [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    const cookie = new Map([
      ["name", name],
      ["value", value],
    ]);
    found.set(name, [...(found.get(name) ?? []), cookie]);
  }
  return found;
}
