import type { LiveEndpoint } from "./contract";
import { isDefaultPort, urlOf } from "./url";

/*
 * Expressions for the list's `filter` parameter, of which the contract knows nothing: the public service takes CEL, in which
 * `obj` is an endpoint.
 */

/** Which endpoints of the account a reading holds. Readings of one name are shared. */
export interface Selection {
  name: string;
  /** The same for a service that filters. Without one, the whole list is read. */
  expression?: string;
  includes(endpoint: LiveEndpoint): boolean;
}

export const EVERYTHING: Selection = { name: "everything", includes: () => true };

/** All that a stack can manage. An account may have thousands of agents' endpoints beside them. */
export const CLOUD: Selection = {
  name: "cloud",
  expression: 'obj.type == "cloud"',
  includes: ({ type }) => type === "cloud",
};

/** The service documents no limit for an expression. Longer ones are split, so that no proxy refuses the address. */
const LONGEST = 2_000;

/** What no text of an expression can hold. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** A condition that a field has one of these values; undefined for text that no expression can hold. */
export function isOneOf(field: string, values: readonly string[]): string | undefined {
  if (values.length === 0 || values.some((value) => LONE_SURROGATE.test(value))) return undefined;
  // JSON's escapes are CEL's, so that no value can end its literal.
  const texts = values.map((value) => JSON.stringify(value));
  return texts.length === 1 ? `obj.${field} == ${texts[0]}` : `obj.${field} in [${texts.join(", ")}]`;
}

/** The endpoints of any type on these URLs, which are in the one spelling; as many selections as it takes. */
export function onUrls(urls: readonly string[]): Selection[] {
  const parts: string[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const url of urls) {
    const more = (isOneOf("url", spellings(url))?.length ?? 0) + 2;
    if (length + more > LONGEST) parts.push([]);
    length = length + more > LONGEST ? more : length + more;
    parts.at(-1)?.push(url);
  }
  return parts.map((part) => {
    const expression = isOneOf("url", part.flatMap(spellings));
    return {
      name: `on ${part.join(" ")}`,
      ...(expression !== undefined && { expression }),
      includes: (live) => part.includes(urlOf(live) ?? ""),
    };
  });
}

/** How the service may have kept a URL: the contract does not say that it normalizes. */
export function spellings(url: string): string[] {
  const withPort = ["80", "443"].map((port) => `${url}:${port}`).filter(isDefaultPort);
  return [url, `${url}/`, ...withPort];
}
