import type { RE2JS } from "re2js";
import { celLibrary, type Implementation } from "../policy/cel";
import { inCidrs } from "./networks";
import { notSimulated, partlyKnown } from "./trace";

/*
 * The functions of expressions that run here: those in the examples of the public service's documentation. A call of another
 * function fails the request, and so does a call whose result the documentation does not fix.
 */

/** Fails an expression, as the service does. */
const fail = (message: string): never => {
  throw new Error(message);
};

/** A pattern of RE2. The library is loaded when a pattern is met. */
export function compiled(pattern: string): RE2JS {
  const { RE2JS, RE2JSSyntaxException }: typeof import("re2js") = require("re2js");
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    // The error's message quotes a part of the pattern, which may be a part of a secret.
    return notSimulated(`a pattern that RE2 does not accept (${error.getDescription()})`);
  }
}

const matches = (text: string, pattern: string) => compiled(pattern).test(text);

/** Lower case of each character by itself, as in Go: the dotted capital I becomes i. */
const lower = (text: string) => [...text].map((one) => [...one.toLowerCase()][0] ?? "").join("");
const upper = (text: string) =>
  [...text]
    .map((one) =>
      [...one.toUpperCase()].length === 1 ? one.toUpperCase() : notSimulated(`upper() of ${one}`),
    )
    .join("");

function split(text: string, separator?: string, most = -1n): string[] {
  // The documentation does not say whether each of several blanks separates.
  if (separator === undefined && !/^\S+(?: \S+)*$/.test(text)) notSimulated("split() of this text");
  if (separator === "" && /[\ud800-\udfff]/.test(text)) notSimulated("split() of characters beyond U+FFFF");
  return text.split(separator ?? " ").slice(0, most < 0n ? undefined : Number(most));
}

function join(list: readonly unknown[], separator = ""): string {
  return list.every((item) => typeof item === "string") ? list.join(separator) : fail("join() needs texts");
}

const sizeOf = (value: string | Uint8Array | unknown[] | object) => {
  if (typeof value === "string") return BigInt([...value].length);
  return BigInt(
    value instanceof Uint8Array || Array.isArray(value) ? value.length : Object.keys(value).length,
  );
};

/** URLs that all parsers read in the same way: with a host of plain labels, and without user and port. */
const PLAIN_URL =
  /^(https?):\/\/((?:[a-z\d](?:-*[a-z\d])*\.)*[a-z](?:-*[a-z\d])*)(?:[/?#](?:[!-$&-~]|%[\dA-Fa-f]{2})*)?$/;

/** Scheme and host of a URL. The documentation shows no other field. */
function parseUrl(text: string) {
  const [, scheme, host] = PLAIN_URL.exec(text) ?? notSimulated("url.parse() of this text");
  return partlyKnown({ scheme, host }, (name) =>
    name === undefined
      ? "the list of fields of url.parse()"
      : !["scheme", "host"].includes(name) && `${name} of url.parse()`,
  );
}

export const basicAuth = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

/** Converts a value with CEL's library, which has its own class for durations. */
function library(conversion: string, value: unknown): unknown {
  return celLibrary().evaluate(`${conversion}(value)`, { value });
}

/** An integer of CEL. Refuses other texts than digits, and doubles out of range, because languages convert them differently. */
function integer(value: unknown): bigint {
  if (value instanceof Date) return BigInt(Math.floor(value.getTime() / 1000));
  if (typeof value === "string" && !/^-?\d{1,20}$/.test(value)) return notSimulated("this text as a number");
  if (typeof value === "number" && !(Math.abs(value) < 2 ** 63)) return fail("this number is out of range");
  const whole = BigInt(typeof value === "number" ? Math.trunc(value) : String(value));
  return BigInt.asIntN(64, whole) === whole ? whole : fail("this number is out of range");
}

const double = (value: unknown) =>
  typeof value === "number" || /^-?\d+\.\d+$/.test(String(value)) ? Number(value) : Number(integer(value));

const RFC3339 =
  /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,3})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** A timestamp from RFC 3339 text with at most milliseconds, because JavaScript cannot hold more digits. */
function timestamp(value: unknown): unknown {
  if (value instanceof Date) return value;
  if (typeof value !== "string") return library("timestamp", value);
  const [, day = ""] = RFC3339.exec(value) ?? notSimulated("timestamp() of this text");
  const isDay = new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
  return isDay ? library("timestamp", value) : fail("there is no such day");
}

/** A duration of whole milliseconds, because timestamps hold no smaller unit, and of at most 292 years, as in Go. */
function duration(value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (!/^-?(?:\d+(?:\.\d{1,3})?[hms]|\d+ms)+$/.test(value)) notSimulated("duration() of this text");
  const read = library("duration", value);
  return Math.abs(Number(read)) < 2 ** 63 / 1e6 ? read : fail("this duration is out of range");
}

/**
 * The implementations, by the name in the vocabulary with the type before it (`string.split`). Integers are `bigint`, other
 * numbers `number`. `requestFunctions` has the functions that read the request, `PolicyRun` those that read secrets.
 */
export const implementations: Readonly<Record<string, Implementation>> = {
  size: sizeOf,
  "string.size": sizeOf,
  "bytes.size": sizeOf,
  "list.size": sizeOf,
  "map.size": sizeOf,
  "string.startsWith": (text: string, part: string) => text.startsWith(part),
  "string.endsWith": (text: string, part: string) => text.endsWith(part),
  "string.contains": (text: string, part: string) => text.includes(part),
  "string.lower": lower,
  "string.upper": upper,
  "string.split": split,
  "list.join": join,
  matches,
  "string.matches": matches,
  "url.parse": parseUrl,
  inCidrRange: (ip: string, cidr: string) => inCidrs(ip, [cidr]),
  inCidrRanges: inCidrs,
  int: integer,
  double,
  timestamp,
  duration,
};
