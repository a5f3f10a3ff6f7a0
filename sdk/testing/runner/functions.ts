import { randomInt } from "node:crypto";
import { isIP } from "node:net";
import { isMapping } from "../../../provider/api/json";
import type { Implementation } from "../../../provider/policy/cel";
import { digests } from "./digests";
import { inCidrs } from "./networks";
import { matchesOf } from "./patterns";
import { NotSimulated } from "./trace";

/*
 * The functions of expressions, as the public service's documentation describes them. Those of CEL that the library has are
 * its own, unless they differ. Documented calls with their results verify them. What a call would have to guess is refused.
 */

const bytesOf = (text: string) => Buffer.from(text, "utf8");
const refuse = (what: string): never => {
  throw new NotSimulated(what);
};
const fail = (message: string): never => {
  throw new Error(message);
};

/** A position in a text. Positions count characters, and JavaScript's differ beyond U+FFFF. */
function position(text: string, index: bigint, least = 0n): number {
  if (/[\ud800-\udfff]/.test(text)) refuse("a position in a text with characters beyond U+FFFF");
  if (index < least || index > BigInt(text.length)) fail(`${index} is outside the text`);
  return Number(index);
}

function base64Bytes(text: string): Buffer {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : fail("this is not base64");
}

const exact = (value: number) =>
  Number.isInteger(value) && !Number.isSafeInteger(value) ? refuse("an integer beyond 2^53 in JSON") : value;
export const basicAuth = (user: string, password: string) =>
  `Basic ${bytesOf(`${user}:${password}`).toString("base64")}`;

const decoded = (text: string): unknown =>
  JSON.parse(text, (_, value) => (typeof value === "number" ? exact(value) : value));

/** Integers of expressions are numbers in JSON. Maps are in Go's order, by name. */
function json(value: unknown): unknown {
  if (typeof value === "bigint") return exact(Number(value));
  if (Array.isArray(value)) return value.map(json);
  if (typeof value !== "object" || value === null) return value;
  if (!isMapping(value) || value instanceof Date) return refuse("a value of this type as JSON");
  const sorted = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, part]) => [name, json(part)]));
}
const encoded = (value: unknown) => {
  const text = JSON.stringify(json(value));
  return /[<>&\u2028\u2029]/.test(text) ? refuse("JSON of a text with <, > or &") : text;
};

const ESCAPED = /[!'()*]/g;
const escapeUrl = (text: string) =>
  encodeURIComponent(text)
    .replace(ESCAPED, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");
const unescapeUrl = (text: string) => decodeURIComponent(text.replaceAll("+", " "));

function parseUrl(text: string) {
  const { protocol, host } = new URL(text);
  return { scheme: protocol.slice(0, -1), host };
}

/** Whether the values are text or lists is open if a name occurs more than once. */
function decodeQuery(text: string): Record<string, string> {
  const pairs = [...new URLSearchParams(text)];
  const names = new Set(pairs.map(([name]) => name));
  return names.size === pairs.length ? Object.fromEntries(pairs) : refuse("a repeated name in a query");
}

function encodeQuery(values: Record<string, unknown>): string {
  const names = Object.keys(values).sort();
  return names
    .map((name) => {
      const value = values[name];
      return typeof value === "string"
        ? `${escapeUrl(name)}=${escapeUrl(value)}`
        : refuse("a query of values that are not text");
    })
    .join("&");
}

const PRIVATE = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"];
/** The reference does not say whether addresses of the machine, the link and the carrier are private. */
const SPECIAL = ["0.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "::/127", "fe80::/10"];

const hashes = Object.entries(digests).flatMap(([name, digest]) => {
  const hash = (text: string, form = "hex") =>
    form === "hex" || form === "base64" ? digest(bytesOf(text)).toString(form) : fail("hex or base64");
  return [`hash.${name}`, `string.${name}`].map((key): [string, Implementation] => [key, hash]);
});

const matches = (text: string, pattern: string) => matchesOf(text, pattern).length > 0;

/** Whether JavaScript writes a number as Go does: not a tie, which they round differently, and not a huge one. */
const isFixed = (value: number, digits: number) =>
  Math.abs(value) < 1e21 && digits <= 100 && Math.abs((value * 10 ** digits) % 1) !== 0.5;

/** `%s`, `%d`, `%f`, `%e`, `%b`, `%x`, `%X` and `%o`, each with an optional precision. */
function format(template: string, values: readonly unknown[]): string {
  let next = 0;
  const text = template.replace(/%(?:\.(\d+))?(.)/gs, (_, precision: string | undefined, verb: string) => {
    if (verb === "%") return "%";
    const value = next < values.length ? values[next++] : fail("format() has too few values");
    const isInt = typeof value === "bigint";
    if (verb === "s" && (typeof value === "string" || typeof value === "boolean" || isInt)) return `${value}`;
    if (verb === "d" && isInt) return `${value}`;
    if (verb === "f" && typeof value === "number" && isFixed(value, Number(precision ?? 6)))
      return value.toFixed(Number(precision ?? 6));
    const base = { b: 2, o: 8, x: 16, X: 16 }[verb];
    if (base && isInt) return verb === "X" ? value.toString(16).toUpperCase() : value.toString(base);
    return refuse(`%${verb} of format() with this value`);
  });
  return text;
}

function sorted(list: readonly unknown[]): unknown[] {
  const [first] = list;
  const isScalar = ["bigint", "number", "string", "boolean"].includes(typeof first);
  if (list.length > 0 && (!isScalar || list.some((item) => typeof item !== typeof first)))
    fail("sort() needs values of one type that have an order");
  if (typeof first === "boolean" || typeof first === "number") return refuse("sort() of these values");
  return [...(list as string[])].sort((one, other) => (one < other ? -1 : one > other ? 1 : 0));
}

/** Integers are distinct by value, also in lists. */
const distinct = (list: readonly unknown[]) => [
  ...new Map(
    list.map((item) => [
      JSON.stringify(item, (_, value) => (typeof value === "bigint" ? { int: `${value}` } : value)),
      item,
    ]),
  ).values(),
];

const ascii = (text: string, letters: RegExp, change: (letter: string) => string) =>
  text.replace(letters, change);
/** Each character by itself, as in Go: the dotted capital I becomes i. */
const lower = (text: string) => [...text].map((one) => [...one.toLowerCase()][0] ?? "").join("");
const upper = (text: string) =>
  [...text].map((one) => ([...one.toUpperCase()].length === 1 ? one.toUpperCase() : one)).join("");

interface Duration {
  seconds: bigint;
  nanos: number;
}

/** As the service writes timestamps: `2024-06-24T15:30:00Z`. */
export const dateText = (date: Date) => date.toISOString().replace(/\.000Z$/, "Z");

const DAY = 86_400_000;
/** Fields of the local time, which is here in UTC. */
const fields: Record<string, (local: Date) => number> = {
  getDate: (local) => local.getUTCDate(),
  getDayOfMonth: (local) => local.getUTCDate() - 1,
  getDayOfWeek: (local) => local.getUTCDay(),
  getDayOfYear: (local) => Math.floor((local.getTime() - Date.UTC(local.getUTCFullYear(), 0, 1)) / DAY),
  getFullYear: (local) => local.getUTCFullYear(),
  getHours: (local) => local.getUTCHours(),
  getMilliseconds: (local) => local.getUTCMilliseconds(),
  getMinutes: (local) => local.getUTCMinutes(),
  getMonth: (local) => local.getUTCMonth(),
  getSeconds: (local) => local.getUTCSeconds(),
};
const timestampFields = Object.entries(fields).map(([name, field]): [string, Implementation] => [
  `timestamp.${name}`,
  (date: Date, timeZone = "UTC") => {
    const milliseconds = `${date.getUTCMilliseconds()}`.padStart(3, "0");
    const local = date.toLocaleString("sv-SE", { timeZone }).replace(" ", "T");
    return BigInt(field(new Date(`${local}.${milliseconds}Z`)));
  },
]);

const QUOTED: Record<string, string> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};
const decodeText = (text: string) => base64Bytes(text).toString("utf8");

const sizeOf = (value: string | Uint8Array | unknown[] | object) => {
  if (typeof value === "string") return BigInt([...value].length);
  return BigInt(
    value instanceof Uint8Array || Array.isArray(value) ? value.length : Object.keys(value).length,
  );
};
const sizes = ["size", "string.size", "bytes.size", "list.size", "map.size"].map((name) => [name, sizeOf]);

function join(list: readonly unknown[], separator = ""): string {
  return list.every((item) => typeof item === "string") ? list.join(separator) : fail("join() needs texts");
}

/**
 * By the name in the vocabulary, with the receiver's type and without the types of the arguments. Integers are `bigint`, other
 * numbers `number`.
 */
export const implementations: Readonly<Record<string, Implementation>> = {
  ...Object.fromEntries([...hashes, ...sizes]),
  "base64.decode": base64Bytes,
  "base64.encode": (bytes: Uint8Array) => Buffer.from(bytes).toString("base64"),
  "basic_auth.encode": basicAuth,
  "json.decode": decoded,
  "json.encode": encoded,
  "queryString.decode": decodeQuery,
  "queryString.encode": encodeQuery,
  "rand.double": () => Math.random(),
  "rand.int": (one = 0n, other = 1n) => {
    const [least, most] = one < other ? [one, other] : [other, one];
    return least + BigInt(randomInt(Number(most - least) + 1));
  },
  "strings.quote": (text: string) => `"${[...text].map((one) => QUOTED[one] ?? one).join("")}"`,
  "lists.range": (size: bigint) =>
    size > 10_000n
      ? refuse("lists.range() of more than 10,000 numbers")
      : Array.from({ length: Number(size) }, (_, index) => BigInt(index)),
  "url.escape": escapeUrl,
  "url.unescape": unescapeUrl,
  "url.parse": parseUrl,
  inCidrRange: (ip: string, cidr: string) => inCidrs(ip, [cidr]),
  inCidrRanges: inCidrs,
  matches,
  "string.matches": matches,
  "string.startsWith": (text: string, part: string) => text.startsWith(part),
  "string.endsWith": (text: string, part: string) => text.endsWith(part),
  "string.contains": (text: string, part: string) => text.includes(part),
  // Go and JavaScript disagree about two characters.
  "string.trim": (text: string) =>
    /[\u0085\ufeff]/.test(text) ? refuse("trim() of this text") : text.trim(),
  "list.join": join,
  "string.charAt": (text: string, index: bigint) => text.charAt(position(text, index)),
  "string.indexOf": (text: string, part: string, from = 0n) =>
    BigInt(text.indexOf(part, position(text, from))),
  "string.lastIndexOf": (text: string, part: string, from = BigInt(text.length)) =>
    BigInt(text.lastIndexOf(part, position(text, from))),
  "string.format": format,
  "string.split": (text: string, separator = " ", most?: bigint) => {
    if (separator === "" && /[\ud800-\udfff]/.test(text)) refuse("split() of characters beyond U+FFFF");
    return text.split(separator).slice(0, most === undefined || most < 0n ? undefined : Number(most));
  },
  "string.replace": (text: string, old: string, fresh: string, most = -1n) => {
    if (old === "") refuse("replace() of the empty text");
    if (most < 0n) return text.replaceAll(old, () => fresh);
    const parts = text.split(old);
    const replaced = parts.slice(0, Number(most) + 1).join(fresh);
    return [replaced, ...parts.slice(Number(most) + 1)].join(old);
  },
  "string.substring": (text: string, start: bigint, end = BigInt(text.length)) =>
    text.slice(position(text, start), position(text, end, start)),
  "string.lower": lower,
  "string.upper": upper,
  "string.lowerAscii": (text: string) => ascii(text, /[A-Z]/g, (letter) => letter.toLowerCase()),
  "string.upperAscii": (text: string) => ascii(text, /[a-z]/g, (letter) => letter.toUpperCase()),
  "string.reverse": (text: string) => [...text].reverse().join(""),
  "string.decodeBase64": decodeText,
  "string.encodeBase64": (text: string) => bytesOf(text).toString("base64"),
  "string.escapeUrl": escapeUrl,
  "string.unescapeUrl": unescapeUrl,
  "string.isJson": (text: string) => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  },
  "string.isPrivateIp": (text: string) => {
    if (inCidrs(text, PRIVATE)) return true;
    return !isIP(text) || inCidrs(text, SPECIAL) ? refuse("isPrivateIp() of this text") : false;
  },
  "string.isQueryString": (text: string) => {
    if (/^[^=&\s;]+=[^=&\s;]*(&[^=&\s;]+=[^=&\s;]*)*$/.test(text)) return true;
    return text.includes(" ") ? false : refuse("isQueryString() of this text");
  },
  "string.isURL": (text: string) => {
    if (/^https?:\/\/[\w.-]+(:\d+)?([/?#]\S*)?$/.test(text)) return URL.canParse(text);
    return /^[^:]*$/.test(text) ? false : refuse("isURL() of this text");
  },
  "string.decodeJson": decoded,
  "string.parseUrl": parseUrl,
  "string.decodeQueryString": decodeQuery,
  "list.encodeJson": encoded,
  "map.encodeJson": encoded,
  "map.encodeQueryString": encodeQuery,
  "list<V>.slice": (list: unknown[], start: bigint, end: bigint) =>
    start < 0n || end < start || end > BigInt(list.length)
      ? fail("slice() is outside the list")
      : list.slice(Number(start), Number(end)),
  "list.flatten": (list: unknown[], depth = 1n) =>
    depth < 0n ? fail("flatten() needs a depth of 0 or more") : list.flat(Number(depth)),
  "list<V>.sort": sorted,
  "list<V>.distinct": distinct,
  ...Object.fromEntries(timestampFields),
  "duration.getHours": ({ seconds }: Duration) => seconds / 3600n,
  "duration.getMinutes": ({ seconds }: Duration) => seconds / 60n,
  "duration.getSeconds": ({ seconds }: Duration) => seconds,
  "duration.getMilliseconds": ({ nanos }: Duration) => BigInt(Math.trunc(nanos / 1e6)),
  string: (value: Date | object) =>
    value instanceof Date ? dateText(value) : refuse("string() of a duration"),
  int: (date: Date) => BigInt(Math.floor(date.getTime() / 1000)),
  timestamp: (date: Date) => date,
  duration: (duration: object) => duration,
};
