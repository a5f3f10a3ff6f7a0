import { isMapping, type JsonObject, type Path, partsOf } from "../../../provider/data/index";
import { userTexts } from "../../../provider/endpoint/fields";
import {
  findSecrets,
  MIN_RECOGNIZABLE_LENGTH,
  MIN_SECRET_LENGTH,
} from "../../../provider/endpoint/secretSearch";
import { vaultReference } from "../../traffic-policy/webhooks/index";
import { groupBy } from "../text";
import type { Adoption } from "./adoptable";
import { uniqueNames } from "./names";

/*
 * Secrets of live policies, metadata and descriptions. A text or number with a secret in it becomes a secret of the stack's
 * configuration as a whole, so the program's code contains no secret.
 */

/** A secret of the stack's configuration, with the places that read it. */
export class ConfigSecret {
  constructor(
    /** The key in the configuration, without the project's name. */
    readonly name: string,
    readonly type: SecretPlace["type"],
    /** The value in the configuration. */
    readonly value: string,
    readonly places: readonly SecretPlace[],
  ) {}
}

/** A text or number with a secret in it. */
interface SecretPlace {
  id: string;
  url: string;
  path: Path;
  type: "text" | "number";
  value: string;
}

/**
 * The secrets of all these endpoints. Equal values of one type are one secret.
 *
 * @param names The endpoints' resources, by id.
 * @param isFree Whether the configuration has no other value with this name.
 */
export function secretsOf(
  adoptions: readonly Adoption[],
  names: ReadonlyMap<string, string>,
  isFree: (name: string, value: string) => boolean,
): ConfigSecret[] {
  const copied = adoptions.flatMap((adoption) => revealedSecrets(adoption).map(({ text }) => text));
  const isInAnyText = containsOneOf(copied.filter(({ length }) => length >= MIN_RECOGNIZABLE_LENGTH));
  const places = adoptions.flatMap((adoption) => placesIn(adoption, isInAnyText));
  const unique = uniqueNames("");
  return [...groupBy(places, ({ type, value }) => `${type} ${value}`).values()].flatMap((same) => {
    const [first] = same;
    if (!first) return [];
    const { type, value } = first;
    const name = unique(nameOf(same, names), (one) => !isFree(one, value));
    return [new ConfigSecret(name, type, value, same)];
  });
}

/** Replaces the secrets in the inputs of an endpoint. */
export function secretReplacement(secrets: readonly ConfigSecret[]): (adoption: Adoption) => JsonObject {
  const keyOf = (id: string, path: Path) => JSON.stringify([id, ...path]);
  const byPlace = new Map(
    secrets.flatMap((secret) => secret.places.map(({ id, path }) => [keyOf(id, path), secret])),
  );
  return ({ live: { id }, inputs }) => {
    const replaced = (value: unknown, path: Path): unknown => {
      if (Array.isArray(value)) return value.map((item, index) => replaced(item, [...path, index]));
      if (!isMapping(value)) return byPlace.get(keyOf(id, path)) ?? value;
      return replacedIn(value, path);
    };
    const replacedIn = (value: JsonObject, path: Path): JsonObject =>
      Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaced(item, [...path, key])]));
    return replacedIn(inputs, []);
  };
}

const documentsOf = ({ inputs }: Adoption): JsonObject =>
  Object.fromEntries(userTexts.map((name) => [name, inputs[name]]));

/** The scheme in an `Authorization` header. It is not secret, and copies of the secret lack it. */
const SCHEME = /^(?:Bearer|Basic|Token|ApiKey) +/i;

/** The secrets that keys and places reveal, each with the text of its copies. A reference to the vault is no secret. */
const revealedSecrets = (adoption: Adoption) =>
  findSecrets(documentsOf(adoption))
    .map(({ path, secret }) => ({ path, secret, text: `${secret}`.replace(SCHEME, "").trim() }))
    .filter(({ text }) => text !== "" && vaultReference(text) === undefined);

function placesIn(adoption: Adoption, isInAnyText: (text: string) => boolean): SecretPlace[] {
  const { live, inputs } = adoption;
  const own = revealedSecrets(adoption);
  const paths = new Set(own.map(({ path }) => JSON.stringify(path)));
  const isInOwnText = containsOneOf(
    own.flatMap(({ secret, text }) =>
      typeof secret === "string" && text.length >= MIN_SECRET_LENGTH ? [text] : [],
    ),
  );
  return [...partsOf(documentsOf(adoption))].flatMap(([path, part]): SecretPlace[] => {
    if (typeof part !== "string" && typeof part !== "number") return [];
    const value = String(part);
    const isSecret = paths.has(JSON.stringify(path)) || isInAnyText(value);
    if (!isSecret && !(typeof part === "string" && isInOwnText(value))) return [];
    const type = typeof part === "number" ? "number" : "text";
    return [{ id: live.id, url: String(inputs["url"]), path, type, value }];
  });
}

/** Finds out fast whether a text contains one of thousands of secrets, which have only a few lengths. */
function containsOneOf(secrets: readonly string[]): (text: string) => boolean {
  const all = new Set(secrets);
  const startOf = (text: string, at = 0) => text.slice(at, at + MIN_SECRET_LENGTH);
  const lengths = new Map(
    [...groupBy([...all], (secret) => startOf(secret))].map(([start, same]) => {
      return [start, [...new Set(same.map(({ length }) => length))]] as const;
    }),
  );
  return (text) => {
    for (let at = 0; at <= text.length - MIN_SECRET_LENGTH; at++)
      if (lengths.get(startOf(text, at))?.some((length) => all.has(text.slice(at, at + length)))) return true;
    return false;
  };
}

/** A name from the secret's key in the document. If only one endpoint has the secret, the endpoint's name comes first. */
function nameOf(places: readonly SecretPlace[], names: ReadonlyMap<string, string>): string {
  const ids = new Set(places.map(({ id }) => id));
  const owner = ids.size === 1 ? names.get(places[0]?.id ?? "") : undefined;
  const key = places[0]?.path.findLast((part) => typeof part === "string") ?? "";
  return camelCase(`${owner ?? ""} ${key}`) || "secret";
}

/** `shopExampleCom` for `shop-example-com`. */
function camelCase(name: string): string {
  const [first = "", ...others] = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const capital = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1);
  return first.slice(0, 1).toLowerCase() + first.slice(1) + others.map(capital).join("");
}
