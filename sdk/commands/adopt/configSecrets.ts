import type { JsonObject } from "../../../provider/api/json";
import { isMapping } from "../../../provider/api/json";
import { type Path, pathText } from "../../../provider/document";
import { type Match, searchFor } from "../../../provider/search";
import { SHORTEST_SECRET, secretPlaces, UNMISTAKABLE } from "../../../provider/secrets";
import { vaultReference } from "../../webhooks/webhookSecret";
import { camelCase } from "../names";
import { type Adoption, grouped } from "./adoptable";

/* Secrets of live policies and metadata. Each gets a name in the stack's configuration, so the code contains none. */

export interface Secret {
  /** The key in the configuration, without the project's name. */
  name: string;
  /** The configuration's value. */
  value: string;
  type: "text" | "number";
  /** Where it stands under the name of a secret. */
  places: { id: string; url: string; path: string }[];
}

/** A text that contains secrets, in parts. */
export class Mixed {
  constructor(readonly parts: readonly (string | Secret)[]) {}
}

interface Found extends Pick<Secret, "value" | "type"> {
  adoption: Adoption;
  path: Path;
}

/**
 * The secrets of all these endpoints. Equal values are one secret.
 *
 * @param names The endpoints' resources, by id.
 * @param isFree Whether the configuration has no other value under this name.
 */
export function secretsOf(
  adoptions: readonly Adoption[],
  names: ReadonlyMap<string, string>,
  isFree: (name: string, value: string) => boolean,
): Secret[] {
  const byKey = grouped(adoptions.flatMap(foundIn), keyOf);
  const given = new Set<string>();
  /** By name, the number that was appended last: policies have thousands of secrets with one name. */
  const numbers = new Map<string, number>();
  return [...byKey.values()].map((found): Secret => {
    const [{ value, type } = { value: "", type: "text" } as const] = found;
    const wanted = nameOf(found, names);
    let name = wanted;
    while (given.has(name) || !isFree(name, value)) {
      const number = (numbers.get(wanted) ?? 1) + 1;
      numbers.set(wanted, number);
      name = `${wanted}${number}`;
    }
    given.add(name);
    return { name, value, type, places: found.map(placeOf) };
  });
}

/** Finds these secrets wherever they stand in an endpoint's inputs, and gives the inputs with `Mixed` in their place. */
export function secretExtraction(secrets: readonly Secret[]): (adoption: Adoption) => JsonObject {
  const byKey = new Map(secrets.map((secret) => [keyOf(secret), secret]));
  const inAllTexts = finder(secrets.filter(({ value }) => value.length >= UNMISTAKABLE));
  const short = secrets.filter(
    ({ type, value: { length } }) => type === "text" && length >= SHORTEST_SECRET && length < UNMISTAKABLE,
  );
  const shortById = grouped(
    short.flatMap((secret) => [...new Set(secret.places.map(({ id }) => id))].map((id) => ({ id, secret }))),
    ({ id }) => id,
  );

  return (adoption) => {
    const { live, inputs } = adoption;
    const inItsTexts = finder((shortById.get(live.id) ?? []).map(({ secret }) => secret));
    const inPlace = new Map(
      foundIn(adoption).map((one) => [JSON.stringify(one.path), byKey.get(keyOf(one))]),
    );
    const extract = (value: unknown, path: Path): unknown => {
      const own = inPlace.get(JSON.stringify(path));
      if (typeof value === "number") {
        const text = inConfig(value);
        const copied =
          text.length >= UNMISTAKABLE ? byKey.get(keyOf({ type: "number", value: text })) : undefined;
        const secret = own ?? copied;
        return secret ? new Mixed([secret]) : value;
      }
      if (typeof value === "string") {
        const parts = own ? framed(value, own) : partsOf(value, [inAllTexts, inItsTexts]);
        return parts.every((part) => typeof part === "string") ? value : new Mixed(parts);
      }
      if (Array.isArray(value)) return value.map((item, index) => extract(item, [...path, index]));
      if (!isMapping(value)) return value;
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, extract(item, [...path, key])]),
      );
    };
    const isData = (name: string) => !["url", "adopt", "bindings"].includes(name);
    const entries = Object.entries(inputs).map(([name, value]) => [
      name,
      isData(name) ? extract(value, [name]) : value,
    ]);
    return Object.fromEntries(entries);
  };
}

function foundIn(adoption: Adoption): Found[] {
  const { trafficPolicy, metadata } = adoption.inputs;
  return secretPlaces({ trafficPolicy, metadata }).flatMap(({ path, secret }): Found[] => {
    if (typeof secret === "number") return [{ adoption, path, value: inConfig(secret), type: "number" }];
    const value = withoutFrame(secret);
    const isSecret = value !== "" && vaultReference(value) === undefined;
    return isSecret ? [{ adoption, path, value, type: "text" }] : [];
  });
}

/** The spelling of a number in configuration and in texts. */
const inConfig = (number: number) => (Object.is(number, -0) ? "-0" : String(number));

/** A text and a number are two secrets, even if the configuration has the same for both. */
const keyOf = ({ type, value }: Pick<Secret, "type" | "value">) => `${type} ${value}`;

/**
 * The secret part of such a text. The scheme of an `Authorization` header is none, and neither is a line break at the
 * end, which cannot be piped into `pulumi config set`.
 */
function withoutFrame(text: string): string {
  return text.replace(/^(Bearer|Basic|Token|ApiKey) +(?=[^\r\n ])/i, "").replace(/[\r\n]+$/, "");
}

/** The text at the secret's own place: the frame, and the secret. */
function framed(text: string, secret: Secret): (string | Secret)[] {
  const at = text.lastIndexOf(secret.value);
  return [text.slice(0, at), secret, text.slice(at + secret.value.length)].filter((part) => part !== "");
}

/** The secret's name in the document, after that of its endpoint unless several have the secret. */
function nameOf(found: readonly Found[], names: ReadonlyMap<string, string>): string {
  const ids = new Set(found.map(({ adoption }) => adoption.live.id));
  const [id = ""] = ids;
  const owner = ids.size === 1 ? (names.get(id) ?? "") : "";
  const key = found[0]?.path.findLast((part) => typeof part === "string") ?? "";
  return camelCase(`${owner} ${key}`) || "secret";
}

function placeOf({ adoption, path }: Found): Secret["places"][number] {
  return { id: adoption.live.id, url: String(adoption.inputs["url"]), path: pathText(path) };
}

type Finder = (text: string) => (Match & { secret: Secret })[];

/** A search for the values of these secrets; of several that end at one place it finds the longest. */
function finder(secrets: readonly Secret[]): Finder {
  const byValue = new Map([...secrets].reverse().map((secret) => [secret.value, secret]));
  const search = searchFor([...byValue.keys()]);
  return (text) =>
    [...search(text)].flatMap((match) => {
      const secret = byValue.get(text.slice(match.start, match.end));
      return secret ? [{ ...match, secret }] : [];
    });
}

/** Where secrets overlap, the longest is replaced, since it may contain a shorter one. */
function partsOf(text: string, finders: readonly Finder[]): (string | Secret)[] {
  const found = finders.flatMap((find) => find(text)).sort((a, b) => lengthOf(b) - lengthOf(a));
  if (found.length === 0) return text === "" ? [] : [text];
  const isTaken = new Uint8Array(text.length);
  const replaced = found.filter(({ start, end }) => {
    // What was taken before is at least as long, so it covers one of the two ends.
    if (isTaken[start] || isTaken[end - 1]) return false;
    isTaken.fill(1, start, end);
    return true;
  });
  const parts: (string | Secret)[] = [];
  let done = 0;
  const keep = (until: number) => {
    const between = text.slice(done, until);
    // Where matches overlapped, a shorter secret may be left beside the longest.
    if (replaced.length < found.length) parts.push(...partsOf(between, finders));
    else if (between !== "") parts.push(between);
  };
  for (const { start, end, secret } of replaced.sort((a, b) => a.start - b.start)) {
    keep(start);
    parts.push(secret);
    done = end;
  }
  keep(text.length);
  return parts;
}

const lengthOf = ({ start, end }: Match) => end - start;
