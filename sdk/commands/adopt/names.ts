import type { LiveEndpoint } from "../../../provider/api/contract";
import { urlOf } from "../../../provider/api/url";
import { shortAddress } from "./terraform";

/**
 * A name for each endpoint, by id: the host in its URL; if others have the same, with its scheme; else with a number,
 * which follows the order of the endpoints. An endpoint with an address in Terraform is named by that, short or else whole.
 * No two names are equal, and none is taken.
 */
export function namesOf(
  endpoints: readonly LiveEndpoint[],
  isTaken: (name: string) => boolean,
  addressOf: (id: string) => string | undefined = () => undefined,
): Map<string, string> {
  const all = endpoints.map((endpoint) => {
    const url = urlOf(endpoint) ?? "";
    const [scheme = "", host = url] = url.split("://");
    const address = addressOf(endpoint.id);
    const short = slug(address === undefined ? host : shortAddress(address));
    return { id: endpoint.id, short, wanted: new Set([short, slug(address ?? `${short}-${scheme}`)]) };
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
  name
    .replaceAll("*.", "wildcard.")
    .replace(/[^A-Za-z0-9_]+/g, "-")
    .replace(/^-+|-+$/g, "") || "endpoint";
