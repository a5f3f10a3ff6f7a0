import type { Endpoint } from "../../../provider/service/contract";
import { urlOf } from "../../../provider/service/url";
import { shortAddress } from "./terraform";

/**
 * A name for each endpoint, by id: from its address in Terraform, or else from the host of its URL. Equal names get a number, in the
 * order of the endpoints.
 */
export function namesOf(
  endpoints: readonly Endpoint[],
  isTaken: (name: string) => boolean,
  addressOf: (id: string) => string | undefined = () => undefined,
): Map<string, string> {
  const unique = uniqueNames("-");
  return new Map(
    endpoints.map((endpoint) => {
      const address = addressOf(endpoint.id);
      const host = (urlOf(endpoint) ?? "").replace(/^\w+:\/\//, "");
      return [endpoint.id, unique(slug(address === undefined ? host : shortAddress(address)), isTaken)];
    }),
  );
}

/**
 * Returns a function that gives each name only once: the wanted name, or else the wanted name with a number.
 *
 * @param separator The text before the number.
 */
export function uniqueNames(
  separator: string,
): (wanted: string, isTaken: (name: string) => boolean) => string {
  const used = new Set<string>();
  /** By wanted name, the last number. Thousands may want one name. */
  const numbers = new Map<string, number>();
  return (wanted, isTaken) => {
    let [name, number] = [wanted, numbers.get(wanted) ?? 1];
    while (used.has(name) || isTaken(name)) name = `${wanted}${separator}${++number}`;
    numbers.set(wanted, number);
    used.add(name);
    return name;
  };
}

/** A resource's name: letters, digits and hyphens. */
const slug = (name: string): string =>
  name
    .replaceAll("*.", "wildcard.")
    .replace(/[^A-Za-z0-9_]+/g, "-")
    .replace(/^-+|-+$/g, "") || "endpoint";
