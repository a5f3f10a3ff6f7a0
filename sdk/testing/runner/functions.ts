import { randomInt } from "node:crypto";
import type { Implementation } from "../../../provider/policy/cel";
import {
  base64Bytes,
  basicAuth,
  byBytes,
  bytesOf,
  decoded,
  decodeQuery,
  encoded,
  encodeQuery,
  escapeUrl,
  fail,
  finite,
  isQuery,
  PLAIN_URL,
  parseUrl,
  unescapeUrl,
  utf8,
} from "./codecs";
import { digests } from "./digests";
import { inCidrs } from "./networks";
import { matchesOf } from "./patterns";
import { refuse } from "./trace";

/*
 * The functions of expressions, as the public service's documentation describes them. Those of CEL that the library has are
 * its own, unless they differ. Documented calls with their results verify them. What a call would have to guess is refused.
 */

/** The most characters of a text and items of a list that a call takes or gives. The whole stays within a test's memory. */
const MOST = 1_000_000;
const fits = (length: number) =>
  length > MOST ? refuse("a text or list of more than 1,000,000 characters or items") : length;

function sized<T>(value: T): T {
  if (typeof value === "string" || Array.isArray(value) || value instanceof Uint8Array) fits(value.length);
  return value;
}
const limited =
  (call: Implementation): Implementation =>
  (...args) => {
    args.forEach(sized);
    return sized(call(...args));
  };

/** A position in a text. Positions count characters, and JavaScript's differ beyond U+FFFF. */
function position(text: string, index: bigint, least = 0n): number {
  if (/[\ud800-\udfff]/.test(text)) refuse("a position in a text with characters beyond U+FFFF");
  if (index < least || index > BigInt(text.length)) fail(`${index} is outside the text`);
  return Number(index);
}

const PRIVATE = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"];
/** The reference does not say whether addresses of the machine, the link, the carrier and groups are private. */
const SPECIAL = [
  "0.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "198.18.0.0/15",
  "224.0.0.0/3",
];
const PUBLIC = ["0.0.0.0/0", "2000::/3"];

const hashes = Object.entries(digests).flatMap(([name, digest]) => {
  const hash = (text: string, form = "hex") =>
    form === "hex" || form === "base64" ? digest(bytesOf(text)).toString(form) : fail("hex or base64");
  return [`hash.${name}`, `string.${name}`].map((key): [string, Implementation] => [key, hash]);
});

const matches = (text: string, pattern: string) => matchesOf(text, pattern).length > 0;

/** Whether JavaScript writes a number as Go does: not a tie, which they round differently, and not a huge one. */
function isFixed(value: number, digits: number): boolean {
  if (!(Math.abs(value) < 1e21) || Object.is(value, -0)) return false;
  const scaled = Math.abs(value) * 10 ** digits;
  return Number.isInteger(value) || (scaled < 2 ** 52 && scaled % 1 !== 0.5);
}

/** `%s`, `%d`, `%f`, `%b`, `%x`, `%X` and `%o`. Only `%f` has a precision. */
function format(template: string, values: readonly unknown[]): string {
  let [next, length] = [0, template.length];
  const written = (verb: string, precision: string | undefined) => {
    const value = next < values.length ? values[next++] : fail("format() has too few values");
    const isInt = typeof value === "bigint";
    const digits = Number(precision ?? 6);
    if (verb === "f" && typeof value === "number" && isFixed(value, digits)) return value.toFixed(digits);
    if (precision !== undefined) return refuse(`%${verb} of format() with this value`);
    if (verb === "s" && (typeof value === "string" || typeof value === "boolean" || isInt)) return `${value}`;
    const base = { b: 2, d: 10, o: 8, x: 16, X: 16 }[verb];
    if (base && isInt) return verb === "X" ? value.toString(16).toUpperCase() : value.toString(base);
    return refuse(`%${verb} of format() with this value`);
  };
  const text = template.replace(
    /%(?:\.(\d+))?(.?)/gs,
    (whole, precision: string | undefined, verb: string) => {
      const part = whole === "%%" ? "%" : written(verb, precision);
      length = fits(length + part.length);
      return part;
    },
  );
  return next === values.length ? text : refuse("format() with more values than the text has places");
}

function sorted(list: readonly unknown[]): unknown[] {
  if (list.every((item) => typeof item === "string")) return [...list].sort(byBytes);
  if (list.every((item) => typeof item === "bigint"))
    return [...list].sort((one, other) => (one < other ? -1 : one > other ? 1 : 0));
  const [first] = list;
  return list.some((item) => typeof item !== typeof first) || Array.isArray(first)
    ? fail("sort() needs values of one type that have an order")
    : refuse("sort() of these values");
}

/** Whether other values are the same, such as `1` and `1.0`, is open. */
const distinct = (list: readonly unknown[]) =>
  list.every((item) => ["bigint", "string", "boolean"].includes(typeof item))
    ? [...new Set(list)]
    : refuse("distinct() of these values");

const ascii = (text: string, letters: RegExp, change: (letter: string) => string) =>
  text.replace(letters, change);
/** Each character by itself, as in Go: the dotted capital I becomes i. */
const lower = (text: string) => [...text].map((one) => [...one.toLowerCase()][0] ?? "").join("");
const upper = (text: string) =>
  [...text]
    .map((one) => ([...one.toUpperCase()].length === 1 ? one.toUpperCase() : refuse(`upper() of ${one}`)))
    .join("");

interface Duration {
  seconds: bigint;
  nanos: number;
}

/** As the service writes timestamps: `2024-06-24T15:30:00Z`. How many digits it writes of a fraction is open. */
export const dateText = (date: Date) =>
  date.getUTCMilliseconds() === 0
    ? date.toISOString().replace(".000Z", "Z")
    : refuse("a time with a fraction of a second as text");

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
/** Names of time zones are exact in Go, and JavaScript's list lacks new names of old zones. */
const isZone = (name: string) =>
  [...Intl.supportedValuesOf("timeZone"), "Asia/Kolkata", "Europe/Kyiv"].includes(name);

function inZone(date: Date, timeZone: string): Date {
  if (timeZone === "UTC") return date;
  if (!isZone(timeZone) || date.getTime() < 0) refuse("a time in this time zone");
  const milliseconds = `${date.getUTCMilliseconds()}`.padStart(3, "0");
  return new Date(`${date.toLocaleString("sv-SE", { timeZone }).replace(" ", "T")}.${milliseconds}Z`);
}
const timestampFields = Object.entries(fields).map(([name, field]): [string, Implementation] => [
  `timestamp.${name}`,
  (date: Date, timeZone = "UTC") => BigInt(field(inZone(date, timeZone))),
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
const decodeText = (text: string) => utf8.decode(base64Bytes(text));

const sizeOf = (value: string | Uint8Array | unknown[] | object) => {
  if (typeof value === "string") return BigInt([...value].length);
  return BigInt(
    value instanceof Uint8Array || Array.isArray(value) ? value.length : Object.keys(value).length,
  );
};
const sizes = ["size", "string.size", "bytes.size", "list.size", "map.size"].map((name) => [name, sizeOf]);

type Library = typeof import("@marcbachmann/cel-js", { with: { "resolution-mode": "import" }});

/** Converts with CEL's library, whose classes of durations and unsigned integers are its own. */
function library(conversion: string, value: unknown): unknown {
  const { evaluate }: Library = require("@marcbachmann/cel-js");
  return evaluate(`${conversion}(value)`, { value });
}

/** What languages write in the same way. */
function text(value: unknown): string {
  if (typeof value === "string" || typeof value === "boolean" || typeof value === "bigint") return `${value}`;
  if (value instanceof Uint8Array) return utf8.decode(value);
  return value instanceof Date ? dateText(value) : refuse("string() of this value");
}

/** Only digits. Other texts, and doubles beyond the range, are numbers for some languages. */
function integer(value: unknown): bigint {
  if (value instanceof Date) return BigInt(Math.floor(value.getTime() / 1000));
  if (typeof value === "string" && !/^-?\d{1,20}$/.test(value)) return refuse("this text as a number");
  if (typeof value === "number" && !(Math.abs(value) < 2 ** 63)) return fail("this number is out of range");
  const whole = BigInt(typeof value === "number" ? Math.trunc(value) : String(value));
  return BigInt.asIntN(64, whole) === whole ? whole : fail("this number is out of range");
}

const RFC3339 =
  /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,3})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** RFC 3339 up to milliseconds, which is what JavaScript can hold. */
function timestamp(value: unknown): unknown {
  if (value instanceof Date) return value;
  if (typeof value !== "string") return library("timestamp", value);
  const [, day = ""] = RFC3339.exec(value) ?? refuse("timestamp() of this text");
  const isDay = new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
  return isDay ? library("timestamp", value) : fail("there is no such day");
}

/** Whole milliseconds, because a timestamp holds no less, and at most the 292 years of Go. */
function duration(value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (!/^-?(?:\d+(?:\.\d{1,3})?[hms]|\d+ms)+$/.test(value)) refuse("duration() of this text");
  const read = library("duration", value);
  return Math.abs(Number(read)) < 2 ** 63 / 1e6 ? read : fail("this duration is out of range");
}

function join(list: readonly unknown[], separator = ""): string {
  if (!list.every((item) => typeof item === "string")) return fail("join() needs texts");
  fits(list.reduce((length, item) => length + separator.length + item.length, 0) - separator.length);
  return list.join(separator);
}

function replace(text: string, old: string, fresh: string, most = -1n): string {
  if (old === "") refuse("replace() of the empty text");
  const parts = text.split(old);
  const count = most < 0n || most >= parts.length ? parts.length - 1 : Number(most);
  fits(text.length + count * (fresh.length - old.length));
  return [parts.slice(0, count + 1).join(fresh), ...parts.slice(count + 1)].join(old);
}

/** The reference has the search from a position within the text, and nothing about its end. */
function start(text: string, from: bigint): number {
  return from === BigInt(text.length) ? refuse("a search from the end of a text") : position(text, from);
}

function split(text: string, separator?: string, most = -1n): string[] {
  // Whether each blank separates is open.
  if (separator === undefined && !/^\S+(?: \S+)*$/.test(text)) refuse("split() of this text");
  if (separator === "" && /[\ud800-\udfff]/.test(text)) refuse("split() of characters beyond U+FFFF");
  return text.split(separator ?? " ").slice(0, most < 0n ? undefined : Number(most));
}

const calls: Readonly<Record<string, Implementation>> = {
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
    size > 1000n
      ? refuse("lists.range() of more than 1,000 numbers")
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
  "string.indexOf": (text: string, part: string, from?: bigint) =>
    BigInt(text.indexOf(part, from === undefined ? position(text, 0n) : start(text, from))),
  "string.lastIndexOf": (text: string, part: string, from?: bigint) =>
    BigInt(
      text.lastIndexOf(part, from === undefined ? position(text, BigInt(text.length)) : start(text, from)),
    ),
  "string.format": format,
  "string.split": split,
  "string.replace": replace,
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
      JSON.parse(text, (_, value) => (typeof value === "number" ? finite(value) : value));
      return true;
    } catch (error) {
      if (error instanceof SyntaxError) return false;
      throw error;
    }
  },
  "string.isPrivateIp": (text: string) => {
    if (inCidrs(text, PRIVATE)) return true;
    return inCidrs(text, SPECIAL) || !inCidrs(text, PUBLIC) ? refuse("isPrivateIp() of this address") : false;
  },
  "string.isQueryString": (text: string) => {
    if (isQuery(text)) return true;
    return /^\w+(?: \w+)+$/.test(text) ? false : refuse("isQueryString() of this text");
  },
  "string.isURL": (text: string) => PLAIN_URL.test(text) || refuse("isURL() of this text"),
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
  string: text,
  int: integer,
  uint: (value: unknown) => library("uint", integer(value)),
  double: (value: unknown) =>
    typeof value === "number" || /^-?\d+\.\d+$/.test(String(value)) ? Number(value) : Number(integer(value)),
  timestamp,
  duration,
};

/**
 * By the name in the vocabulary, with the receiver's type and without the types of the arguments. Integers are `bigint`, other
 * numbers `number`.
 */
export const implementations = Object.fromEntries(
  Object.entries(calls).map(([name, call]) => [name, limited(call)]),
);
