import { isMapping, type Path, pathText } from "../../../provider/document";
import type { JsonObject } from "../../../provider/schema";
import { SHORTEST_SECRET, secretPlaces, secretsIn, UNMISTAKABLE } from "../../../provider/secrets";
import { vaultReference } from "../../webhookSecret";
import { camelCase } from "../names";
import type { Adoption } from "./inputs";

/* Secrets of live policies and metadata, each under a name of the stack's configuration, so that code holds none. */

export interface Secret {
  /** The key in the configuration, without the project's name. */
  name: string;
  /** As the configuration holds it. */
  value: string;
  type: "text" | "number";
  /** Where it stands under the name of a secret. */
  places: { id: string; url: string; path: string }[];
}

/** A text in parts: some as they are, some from the configuration. */
export class Mixed {
  constructor(readonly parts: readonly (string | Secret)[]) {}
}

interface Found extends Pick<Secret, "value" | "type"> {
  adoption: Adoption;
  path: Path;
}

/**
 * The secrets of all these endpoints. Those with the same value are one.
 *
 * @param identifiers What the endpoints are called in the program, by id.
 * @param isFree Whether the configuration has nothing else under this name.
 */
export function secretsOf(
  adoptions: readonly Adoption[],
  identifiers: ReadonlyMap<string, string>,
  isFree: (name: string, value: string) => boolean,
): Secret[] {
  const byKey = new Map<string, Found[]>();
  for (const found of adoptions.flatMap(foundIn)) {
    byKey.set(keyOf(found), [...(byKey.get(keyOf(found)) ?? []), found]);
  }
  const secrets: Secret[] = [];
  for (const found of byKey.values()) {
    const [{ value, type } = { value: "", type: "text" } as const] = found;
    const wanted = nameOf(found, identifiers);
    const good = (name: string) => isFree(name, value) && !secrets.some((other) => other.name === name);
    let name = wanted;
    for (let next = 2; !good(name); next++) name = `${wanted}${next}`;
    secrets.push({ name, value, type, places: found.map(placeOf) });
  }
  return secrets;
}

/** An endpoint's inputs in which everything that holds a secret is `Mixed`. */
export function withoutSecrets(adoption: Adoption, secrets: readonly Secret[]): JsonObject {
  const { live, inputs } = adoption;
  const elsewhere = secrets
    .filter(({ value, type, places }) => {
      if (value.length >= UNMISTAKABLE) return true;
      return type === "text" && value.length >= SHORTEST_SECRET && places.some(({ id }) => id === live.id);
    })
    .sort((a, b) => b.value.length - a.value.length);
  const byKey = new Map(secrets.map((secret) => [keyOf(secret), secret]));
  const inPlace = new Map(foundIn(adoption).map((one) => [JSON.stringify(one.path), byKey.get(keyOf(one))]));

  const replace = (value: unknown, path: Path): unknown => {
    const own = inPlace.get(JSON.stringify(path));
    if (typeof value === "number") {
      const one =
        own ?? elsewhere.find(({ type, value: its }) => type === "number" && its === inConfig(value));
      return one ? new Mixed([one]) : value;
    }
    if (typeof value === "string") {
      const parts = own ? framed(value, own) : partsOf(value, elsewhere);
      return parts.every((part) => typeof part === "string") ? value : new Mixed(parts);
    }
    if (Array.isArray(value)) return value.map((item, index) => replace(item, [...path, index]));
    if (!isMapping(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, replace(item, [...path, key])]),
    );
  };
  const { url, adopt, bindings, ...texts } = inputs;
  const replaced = Object.entries(inputs).map(([name, value]) => [
    name,
    name in texts ? replace(value, [name]) : value,
  ]);
  return Object.fromEntries(replaced);
}

/** Whether a key shows what stands elsewhere as a secret: a value can be taken out of code, a key cannot. */
export function keysShowSecrets(document: unknown): boolean {
  const secrets = secretsIn(document).filter(({ length }) => length >= UNMISTAKABLE);
  const shows = (part: unknown): boolean => {
    if (Array.isArray(part)) return part.some(shows);
    if (!isMapping(part)) return false;
    const isShown = (key: string) => secrets.some((secret) => key.includes(secret));
    return Object.entries(part).some(([key, item]) => isShown(key) || shows(item));
  };
  return secrets.length > 0 && shows(document);
}

function foundIn(adoption: Adoption): Found[] {
  const { trafficPolicy, metadata } = adoption.inputs;
  return secretPlaces({ trafficPolicy, metadata }).flatMap(({ path, secret }): Found[] => {
    if (typeof secret === "number") return [{ adoption, path, value: inConfig(secret), type: "number" }];
    const value = withoutFrame(secret);
    const isOne = value !== "" && vaultReference(value) === undefined;
    return isOne ? [{ adoption, path, value, type: "text" }] : [];
  });
}

/** A number as a program's texts have it too. */
const inConfig = (number: number) => (Object.is(number, -0) ? "-0" : String(number));

/** A text and a number are two secrets, even where the configuration holds the same for both. */
const keyOf = ({ type, value }: Pick<Secret, "type" | "value">) => `${type} ${value}`;

/**
 * What of such a text is the secret: not the scheme of an `Authorization` header, nor a line break at the end, which
 * nobody can pipe into `pulumi config set`.
 */
function withoutFrame(text: string): string {
  return text.replace(/^(Bearer|Basic|Token|ApiKey) +(?=[^\r\n ])/i, "").replace(/[\r\n]+$/, "");
}

/** The text of the secret's own place: the frame, and the secret. */
function framed(text: string, secret: Secret): (string | Secret)[] {
  const at = text.lastIndexOf(secret.value);
  return [text.slice(0, at), secret, text.slice(at + secret.value.length)].filter((part) => part !== "");
}

/** The name that it has in the document, after that of its endpoint where only one has it. */
function nameOf(found: readonly Found[], identifiers: ReadonlyMap<string, string>): string {
  const ids = new Set(found.map(({ adoption }) => adoption.live.id));
  const [id = ""] = ids;
  const owner = ids.size === 1 ? (identifiers.get(id) ?? "") : "";
  const key = found[0]?.path.findLast((part) => typeof part === "string") ?? "";
  return camelCase(`${owner} ${key}`);
}

function placeOf({ adoption, path }: Found): Secret["places"][number] {
  return { id: adoption.live.id, url: String(adoption.inputs["url"]), path: pathText(path) };
}

/** The longest secret first, since it may hold a shorter one. */
function partsOf(text: string, [secret, ...shorter]: readonly Secret[]): (string | Secret)[] {
  if (text === "") return [];
  if (!secret) return [text];
  return text
    .split(secret.value)
    .flatMap((part, index) => [...(index > 0 ? [secret] : []), ...partsOf(part, shorter)]);
}
