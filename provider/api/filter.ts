import type { LiveEndpoint } from "./contract";
import { isDefaultPort, urlOf } from "./url";

/*
 * Expressions for the list's `filter` parameter, which the contract does not have. The public service accepts CEL, in which
 * `obj` is an endpoint.
 */

/** A selection of the account's endpoints. Readings of selections with the same name are shared. */
export interface Selection {
  name: string;
  /** The selection as a filter. Without one, the whole list is read. */
  expression?: string;
  includes(endpoint: LiveEndpoint): boolean;
}

export const EVERYTHING: Selection = { name: "everything", includes: () => true };

/** All endpoints that stacks can manage. An account may also have thousands of agents' endpoints. */
export const CLOUD: Selection = {
  name: "cloud",
  expression: 'obj.type == "cloud"',
  includes: ({ type }) => type === "cloud",
};

/** Longer expressions are split, so that no proxy refuses the address. The service documents no limit. */
const LONGEST_EXPRESSION = 2_000;

/** Characters that no text in an expression may contain. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** The condition that a field has one of these values. Undefined if an expression cannot contain one of them. */
export function isOneOf(field: string, values: readonly string[]): string | undefined {
  if (values.length === 0 || values.some((value) => LONE_SURROGATE.test(value))) return undefined;
  // CEL has JSON's escapes, so no value can end its literal.
  const texts = values.map((value) => JSON.stringify(value));
  return texts.length === 1 ? `obj.${field} == ${texts[0]}` : `obj.${field} in [${texts.join(", ")}]`;
}

/** Selections that together contain the endpoints of any type with these normalized URLs. */
export function onUrls(urls: readonly string[]): Selection[] {
  const parts: string[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const url of urls) {
    const more = (isOneOf("url", spellings(url))?.length ?? 0) + 2;
    if (length + more > LONGEST_EXPRESSION) parts.push([]);
    length = length + more > LONGEST_EXPRESSION ? more : length + more;
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

/** The spellings in which the service may store a URL. The contract does not require that it normalizes URLs. */
export function spellings(url: string): string[] {
  const withPort = ["80", "443"].map((port) => `${url}:${port}`).filter(isDefaultPort);
  return [url, `${url}/`, ...withPort];
}
