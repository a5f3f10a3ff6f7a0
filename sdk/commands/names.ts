import type { LiveEndpoint } from "../../provider/api/contract";
import { urlOf } from "../../provider/api/url";

/*
 * Names for endpoints that have none. They come from the URL, are as short as possible while they differ, and do not
 * depend on the order of the endpoints.
 */

/** Names of one endpoint, one after the other: its address, with its scheme, with its number among those with such an address. */
function nameAt(attempt: number, endpoint: LiveEndpoint, { place, size }: Group): string {
  const { scheme, address } = partsOf(urlOf(endpoint) ?? "");
  if (attempt === 0) return address;
  if (attempt === 1) return `${address}-${scheme}`;
  // A number that is taken is left out, and no two of the group ever try the same one.
  return `${address}-${place + 1 + (attempt - 2) * size}`;
}

/** The place of an endpoint among those whose address is spelled alike, by URL and id. */
interface Group {
  place: number;
  size: number;
}

/**
 * A name for each endpoint, by id. No two are equal, and none is taken. If two would be equal, both get longer ones.
 *
 * @param spell Gives a name its form, for example that of an identifier.
 */
export function namesOf(
  endpoints: readonly LiveEndpoint[],
  taken: (name: string) => boolean,
  spell: (name: string) => string = slug,
): Map<string, string> {
  const ranked = [...endpoints].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  const spelled = ranked.map((endpoint) => spell(nameAt(0, endpoint, { place: 0, size: 1 })));
  const sizes = new Map<string, number>();
  const places = spelled.map((name) => {
    const place = sizes.get(name) ?? 0;
    sizes.set(name, place + 1);
    return place;
  });
  const groupOf = (rank: number): Group => ({
    place: places[rank] ?? 0,
    size: sizes.get(spelled[rank] ?? "") ?? 1,
  });
  const attempts = ranked.map(() => 0);
  for (;;) {
    const names = ranked.map((endpoint, rank) => spell(nameAt(attempts[rank] ?? 0, endpoint, groupOf(rank))));
    const users = new Map<string, number>();
    for (const name of names) users.set(name, (users.get(name) ?? 0) + 1);
    const isGood = (name: string) => users.get(name) === 1 && !taken(name);
    if (names.every(isGood)) return new Map(ranked.map(({ id }, rank) => [id, names[rank] ?? id]));
    for (const [rank, name] of names.entries()) if (!isGood(name)) attempts[rank] = (attempts[rank] ?? 0) + 1;
  }
}

const sortKey = (endpoint: LiveEndpoint) => `${urlOf(endpoint)} ${endpoint.id}`;

/** A resource's name: letters, digits and hyphens, of the host and of a port that is not the scheme's own. */
export function slug(name: string): string {
  return name.replace(/[^A-Za-z0-9_]+/g, "-").replace(/^-+|-+$/g, "") || "endpoint";
}

/** `shopExampleCom` for `shop-example-com`. */
export function camelCase(name: string): string {
  const [first = "", ...others] = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const capital = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1);
  return first.slice(0, 1).toLowerCase() + first.slice(1) + others.map(capital).join("");
}

/** A name in camel case that is valid for a constant in TypeScript. */
export function identifier(name: string): string {
  const word = camelCase(name);
  if (!/^[a-z]/.test(word)) return camelCase(`endpoint-${word}`);
  // A word of lower-case letters alone may be a keyword, or a name that the program uses.
  return /^[a-z]+$/.test(word) ? `${word}Endpoint` : word;
}

function partsOf(url: string): { scheme: string; address: string } {
  const [scheme = "", address = url] = url.split("://");
  return { scheme, address: address.replace(/^\*\./, "wildcard.") };
}
