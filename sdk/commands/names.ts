import type { LiveEndpoint } from "../../provider/api/items";
import { urlOf } from "../../provider/lookup";

/*
 * Names for endpoints that have none: from the URL, so that people know them again; as short as tells them apart; and
 * the same in whatever order the endpoints come.
 */

/** Ever longer names of one endpoint: its address, with its scheme, with a part of its id, its id. */
function nameAt(length: number, endpoint: LiveEndpoint, rank: number): string {
  const { scheme, address } = partsOf(urlOf(endpoint) ?? "");
  if (length === 0) return address;
  if (length === 1) return `${address}-${scheme}`;
  if (length === 2) return `${address}-${scheme}-${endpoint.id.slice(-6)}`;
  if (length === 3) return endpoint.id;
  // Ids are unique; that one is taken, or spelled as another, no service makes happen.
  return `${endpoint.id}-${rank}-${length}`;
}

/**
 * A name for each endpoint, by id: no two alike, and none that is taken. Where two would be alike, both get longer ones.
 *
 * @param spell Turns a name into the form that is wanted, an identifier of a language say.
 */
export function namesOf(
  endpoints: readonly LiveEndpoint[],
  taken: (name: string) => boolean,
  spell: (name: string) => string = slug,
): Map<string, string> {
  const ranked = [...endpoints].sort((a, b) => (a.id < b.id ? -1 : 1));
  const lengths = ranked.map(() => 0);
  for (;;) {
    const names = ranked.map((endpoint, rank) => spell(nameAt(lengths[rank] ?? 0, endpoint, rank)));
    const users = new Map<string, number>();
    for (const name of names) users.set(name, (users.get(name) ?? 0) + 1);
    const isGood = (name: string) => users.get(name) === 1 && !taken(name);
    if (names.every(isGood)) return new Map(ranked.map(({ id }, rank) => [id, names[rank] ?? id]));
    for (const [rank, name] of names.entries()) if (!isGood(name)) lengths[rank] = (lengths[rank] ?? 0) + 1;
  }
}

/** A resource's name: letters, digits and hyphens, of the host and of a port that is not the scheme's own. */
export function slug(name: string): string {
  return name.replace(/[^A-Za-z0-9_]+/g, "-").replace(/^-+|-+$/g, "") || "endpoint";
}

function partsOf(url: string): { scheme: string; address: string } {
  const [scheme = "", address = url] = url.split("://");
  return { scheme, address: address.replace(/^\*\./, "wildcard.") };
}
