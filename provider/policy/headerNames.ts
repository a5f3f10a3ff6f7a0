import { isMapping } from "../api/json";

/*
 * Names of headers in expressions. `req.headers` has them in lower case, and functions such as `getReqHeader` want them
 * as in `X-Github-Event`: so the service's reference says. Its examples also give lower case to the functions, so this
 * counts as right there too.
 */

/** A header that an expression asks for under a name that never matches. */
interface MisspeltHeader {
  /** `on_http_request[0].expressions[1]` */
  place: string;
  /** What is asked: `req.headers`, `getReqHeader`. */
  asked: string;
  name: string;
  /** The name as the service has it there. */
  right: string;
}

const NAME = /(?<quote>["'])(?<name>[\w-]+)\k<quote>/.source;
const HEADERS = /\b(?<asked>re[qs]\.headers)/.source;

const LOOKUPS = [
  // req.headers["x-a"], and .get("x-a")
  `${HEADERS}(?:\\s*\\[|\\.get\\()\\s*${NAME}`,
  // "x-a" in req.headers
  `${NAME}\\s+in\\s+${HEADERS}\\b(?!\\s*[\\[.])`,
  // req.headers.host, but no function
  `${HEADERS}\\.(?<name>[a-zA-Z]\\w*)\\b(?!\\s*\\()`,
  // req.headers.exists(name, name == "x-a")
  `${HEADERS}\\.\\w+\\(\\s*(?<variable>\\w+)\\s*,\\s*\\k<variable>\\s*==\\s*${NAME}`,
  // getReqHeader("X-A")
  `\\b(?<asked>(?:get|has)Re[qs]Header)\\(\\s*${NAME}`,
].map((source) => new RegExp(source, "g"));

/** The headers that the expressions in a policy, or in a part of one, ask for in a spelling that never matches. */
export function misspeltHeaders(policy: unknown): MisspeltHeader[] {
  return expressionsIn(policy, "", false).flatMap(({ place, text }) =>
    LOOKUPS.flatMap((lookup) =>
      [...text.matchAll(lookup)].flatMap(({ groups: { asked = "", name = "" } = {} }) => {
        const lower = name.toLowerCase();
        const right = asked.endsWith("Header") ? canonical(lower) : lower;
        return name === lower || name === right ? [] : [{ place, asked, name, right }];
      }),
    ),
  );
}

/** A warning for each such name. For a policy that holds a secret, names and keys are left out. */
export function headerWarnings(policy: unknown, isSecret: boolean): string[] {
  return misspeltHeaders(policy).map(({ place, asked, name, right }) => {
    const kind = asked.endsWith("Header") ? "it as in X-Version-Id" : "it in lower case";
    const where = isSecret ? (KNOWN_PLACE.exec(place)?.[0] ?? "an expression") : place;
    return `${where} asks ${asked} for ${isSecret ? "a name" : name}, which never matches: write ${isSecret ? kind : right}, as the service does`;
  });
}

/** The part of a place that holds no key of the program's own. */
const KNOWN_PLACE =
  /^expressions\[\d+\]|\bon_(?:http_request|http_response|tcp_connect)\[\d+\](?:\.(?:expressions|actions)\[\d+\])?/;

const canonical = (lower: string) => lower.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());

/** Whole texts are expressions under these keys; elsewhere only what stands in `${…}` is. */
const KEYS = new Set(["expressions", "bucket_key"]);

function expressionsIn(value: unknown, place: string, whole: boolean): { place: string; text: string }[] {
  if (typeof value === "string") {
    const text = whole ? value : [...value.matchAll(/\$\{([^$}]*)/g)].map(([, inside]) => inside).join(";");
    return [{ place, text }];
  }
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => expressionsIn(item, `${place}[${index}]`, whole));
  }
  if (!isMapping(value)) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    expressionsIn(part, place === "" ? key : `${place}.${key}`, KEYS.has(key)),
  );
}
