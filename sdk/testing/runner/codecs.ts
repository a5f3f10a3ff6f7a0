import { isMapping } from "../../../provider/api/json";
import { refuse } from "./trace";

/* Base64, JSON, URLs and queries, as Go reads and writes them. What JavaScript would read or write differently is refused. */

export const bytesOf = (text: string) => Buffer.from(text, "utf8");

/** Fails an expression, as the service does. */
export const fail = (message: string): never => {
  throw new Error(message);
};

/** The order of Go, which compares bytes. JavaScript's differs beyond U+FFFF. */
export const byBytes = (one: string, other: string) => Buffer.compare(bytesOf(one), bytesOf(other));

export function base64Bytes(text: string): Buffer {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : fail("this is not base64");
}

/** Bytes become text only if they are UTF-8. What the service makes of others is open. */
export const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export const finite = (value: number) => (Number.isFinite(value) ? value : refuse("such a number in JSON"));
const exact = (value: number) =>
  Number.isInteger(finite(value)) && !Number.isSafeInteger(value)
    ? refuse("an integer beyond 2^53 in JSON")
    : value;

export const basicAuth = (user: string, password: string) =>
  `Basic ${bytesOf(`${user}:${password}`).toString("base64")}`;

export const decoded = (text: string): unknown =>
  JSON.parse(text, (name, value) => {
    if (/\p{Surrogate}/u.test(typeof value === "string" ? name + value : name))
      refuse("half a character in JSON");
    return typeof value === "number" ? exact(value) : value;
  });

/** What Go and JavaScript escape differently. */
const ESCAPED_BY_GO = /[<>&\b\f\u2028\u2029\p{Surrogate}]/u;

/** JSON as Go writes it: maps in the order of their names, integers as numbers. */
export function encoded(value: unknown): string {
  if (typeof value === "bigint") return `${exact(Number(value))}`;
  if (typeof value === "number") return Object.is(value, -0) ? refuse("-0 in JSON") : `${exact(value)}`;
  if (typeof value === "boolean" || value === null) return `${value}`;
  if (typeof value === "string")
    return ESCAPED_BY_GO.test(value)
      ? refuse("JSON of a text with <, > or &, or a character that Go escapes,")
      : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(encoded).join(",")}]`;
  if (!isMapping(value)) return refuse("a value of this type as JSON");
  const names = Object.keys(value).sort(byBytes);
  return `{${names.map((name) => `${encoded(name)}:${encoded(value[name])}`).join(",")}}`;
}

const ESCAPED = /[!'()*]/g;
export const escapeUrl = (text: string) =>
  encodeURIComponent(text)
    .replace(ESCAPED, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");
export const unescapeUrl = (text: string) => decodeURIComponent(text.replaceAll("+", " "));

/** A URL that all parsers read in the same way: with a host of plain labels, and no user or port. */
export const PLAIN_URL =
  /^(https?):\/\/((?:[a-z\d](?:-*[a-z\d])*\.)*[a-z](?:-*[a-z\d])*)(?:[/?#](?:[!-$&-~]|%[\dA-Fa-f]{2})*)?$/;

/** Only these two fields are documented. */
export function parseUrl(text: string) {
  const [, scheme, host] = PLAIN_URL.exec(text) ?? refuse("url.parse() of this text");
  return new Proxy(
    { scheme, host },
    {
      getOwnPropertyDescriptor: (target, name) =>
        Reflect.getOwnPropertyDescriptor(target, name) ?? refuse(`${String(name)} of url.parse()`),
      ownKeys: () => refuse("the list of fields of url.parse()"),
    },
  );
}

/** A query that all parsers read in the same way, if what it escapes is UTF-8. */
const PLAIN_QUERY = /^[^=&;?#\s]+=[^&;#\s]*(?:&[^=&;?#\s]+=[^&;#\s]*)*$/;
export const isQuery = (text: string) => PLAIN_QUERY.test(text) && decodeURIComponent(text) !== "";

/** Whether the values are text or lists is open if a name occurs more than once. */
export function decodeQuery(text: string): Record<string, string> {
  if (!isQuery(text)) refuse("this query");
  const pairs = [...new URLSearchParams(text)];
  const names = new Set(pairs.map(([name]) => name));
  return names.size === pairs.length ? Object.fromEntries(pairs) : refuse("a repeated name in a query");
}

export function encodeQuery(values: Record<string, unknown>): string {
  const names = Object.keys(values).sort(byBytes);
  return names
    .map((name) => {
      const value = values[name];
      return typeof value === "string"
        ? `${escapeUrl(name)}=${escapeUrl(value)}`
        : refuse("a query of values that are not text");
    })
    .join("&");
}
