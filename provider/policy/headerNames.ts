import { isMapping } from "../api/json";

/*
 * Names of headers in expressions. By the service's reference, `req.headers` has them in lower case, and functions such as
 * `getReqHeader` expect the form `X-Github-Event`. Its examples also pass lower case to the functions, so both forms are
 * accepted there.
 */

/** A header name in an expression that never matches. */
interface MisspeltHeader {
  /** `on_http_request[0].expressions[1]` */
  place: string;
  /** The variable or function: `req.headers`, `getReqHeader`. */
  asked: string;
  name: string;
  /** The right spelling of the name. */
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

/** The header names in the expressions of a policy, or of a part of a policy, that never match. */
export function misspeltHeaders(policy: unknown, checked?: ReadonlySet<string>): MisspeltHeader[] {
  const unchecked = expressionsIn(policy).filter(({ text }) => !checked?.has(text));
  return unchecked.flatMap(({ place, text }) =>
    LOOKUPS.flatMap((lookup) =>
      [...text.matchAll(lookup)].flatMap(({ groups: { asked = "", name = "" } = {} }) => {
        const lower = name.toLowerCase();
        const right = asked.endsWith("Header") ? canonical(lower) : lower;
        return name === lower || name === right ? [] : [{ place, asked, name, right }];
      }),
    ),
  );
}

/**
 * A warning for each header name that never matches. If the policy contains a secret, names and keys are left out.
 *
 * @param checked Expressions that are left out, because they have been checked elsewhere.
 */
export function headerWarnings(
  policy: unknown,
  { isSecret, checked }: { isSecret: boolean; checked?: ReadonlySet<string> },
): string[] {
  return misspeltHeaders(policy, checked).map(({ place, asked, name, right }) => {
    const kind = asked.endsWith("Header") ? "it in the form X-Version-Id" : "it in lower case";
    const where = isSecret ? (KNOWN_PLACE.exec(place)?.[0] ?? "an expression") : place;
    return `${where} looks for ${isSecret ? "a name" : name} with ${asked}, which never matches: write ${isSecret ? kind : right}`;
  });
}

/** The part of a place without keys that the program chose. */
const KNOWN_PLACE =
  /^expressions\[\d+\]|\bon_(?:http_request|http_response|tcp_connect)\[\d+\](?:\.(?:expressions|actions)\[\d+\])?/;

const canonical = (lower: string) => lower.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());

/** Below these keys, the whole text is an expression. Elsewhere, only the parts in `${…}` are. */
const KEYS = new Set(["expressions", "bucket_key"]);

/** The expressions in a policy, or in a part of it. The text is empty for a string without one. */
export function expressionsIn(
  value: unknown,
  place = "",
  { whole } = { whole: false },
): { place: string; text: string }[] {
  if (typeof value === "string") {
    const text = whole ? value : [...value.matchAll(/\$\{([^$}]*)/g)].map(([, inside]) => inside).join(";");
    return [{ place, text }];
  }
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => expressionsIn(item, `${place}[${index}]`, { whole }));
  }
  if (!isMapping(value)) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    expressionsIn(part, place === "" ? key : `${place}.${key}`, { whole: KEYS.has(key) }),
  );
}
