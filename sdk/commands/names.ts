import type { LiveEndpoint } from "../../provider/api/contract";
import { urlOf } from "../../provider/api/url";

/**
 * A name for each endpoint, by id: the address in its URL; if others have the same, with its scheme; else with a number,
 * which follows the order of the endpoints. No two names are equal, and none is taken.
 */
export function namesOf(
  endpoints: readonly LiveEndpoint[],
  isTaken: (name: string) => boolean,
): Map<string, string> {
  const all = endpoints.map((endpoint) => {
    const url = urlOf(endpoint) ?? "";
    const [scheme = "", address = url] = url.split("://");
    const short = slug(address.replace(/^\*\./, "wildcard."));
    return { id: endpoint.id, short, wanted: new Set([short, slug(`${short}-${scheme}`)]) };
  });
  const users = new Map<string, number>();
  for (const { wanted } of all) for (const name of wanted) users.set(name, (users.get(name) ?? 0) + 1);
  const numbers = new Map<string, number>();
  const numbered = (name: string): string => {
    for (let number = (numbers.get(name) ?? 0) + 1; ; number++) {
      const next = `${name}-${number}`;
      if (users.has(next) || isTaken(next)) continue;
      numbers.set(name, number);
      users.set(next, 1);
      return next;
    }
  };
  return new Map(
    all.map(({ id, short, wanted }) => {
      const own = [...wanted].find((name) => users.get(name) === 1 && !isTaken(name));
      return [id, own ?? numbered(short)];
    }),
  );
}

/** A resource's name: letters, digits and hyphens. */
const slug = (name: string): string =>
  name.replace(/[^A-Za-z0-9_]+/g, "-").replace(/^-+|-+$/g, "") || "endpoint";

/** `shopExampleCom` for `shop-example-com`. */
export function camelCase(name: string): string {
  const [first = "", ...others] = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const capital = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1);
  return first.slice(0, 1).toLowerCase() + first.slice(1) + others.map(capital).join("");
}
