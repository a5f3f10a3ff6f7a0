import { isMapping, type Path, pathText } from "../../../provider/document";
import type { JsonObject } from "../../../provider/schema";
import { SHORTEST_SECRET, secretPlaces, secretsIn } from "../../../provider/secrets";
import { vaultReference } from "../../webhookSecret";
import { camelCase } from "../names";
import type { Adoption } from "./inputs";

/* Secrets of live policies and metadata, each under a name of the stack's configuration, so that code holds none. */

export interface Secret {
  /** The key in the configuration, without the project's name. */
  name: string;
  value: string;
  /** Where it stands under the name of a secret. */
  places: { id: string; url: string; path: string }[];
}

/** A text in parts: some as they are, some from the configuration. */
export class Mixed {
  constructor(readonly parts: readonly (string | Secret)[]) {}
}

/** Long enough that a text which holds it somewhere else means the same secret, and not a word like any other. */
const UNMISTAKABLE = 8;

interface Found {
  adoption: Adoption;
  path: Path;
  value: string;
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
  const byValue = new Map<string, Found[]>();
  for (const found of adoptions.flatMap(foundIn)) {
    byValue.set(found.value, [...(byValue.get(found.value) ?? []), found]);
  }
  const secrets: Secret[] = [];
  for (const [value, found] of byValue) {
    const wanted = nameOf(found, identifiers);
    const good = (name: string) => isFree(name, value) && !secrets.some((other) => other.name === name);
    let name = wanted;
    for (let number = 2; !good(name); number++) name = `${wanted}${number}`;
    secrets.push({ name, value, places: found.map(placeOf) });
  }
  return secrets;
}

/** An endpoint's inputs in which every text that holds a secret is `Mixed`. */
export function withoutSecrets({ live, inputs }: Adoption, secrets: readonly Secret[]): JsonObject {
  const known = secrets
    .filter(({ value, places }) => value.length >= UNMISTAKABLE || places.some(({ id }) => id === live.id))
    .sort((a, b) => b.value.length - a.value.length);
  const { url, adopt, bindings, ...texts } = inputs;
  const replaced = Object.entries(inputs).map(([name, value]) => [
    name,
    name in texts ? replace(value, known) : value,
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
  return secretPlaces({ trafficPolicy, metadata }).flatMap(({ path, secret }) => {
    const value = withoutFrame(secret);
    return value === "" || vaultReference(value) !== undefined ? [] : [{ adoption, path, value }];
  });
}

/**
 * What of such a text is the secret: not the scheme of an `Authorization` header, nor a line break at the end, which
 * nobody can pipe into `pulumi config set`.
 */
function withoutFrame(text: string): string {
  const secret = text.replace(/^(Bearer|Basic|Token|ApiKey) +/i, "").replace(/[\r\n]+$/, "");
  return secret.length < SHORTEST_SECRET ? text.replace(/[\r\n]+$/, "") : secret;
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

function replace(value: unknown, secrets: readonly Secret[]): unknown {
  if (typeof value === "string") {
    const parts = partsOf(value, secrets);
    return parts.every((part) => typeof part === "string") ? value : new Mixed(parts);
  }
  if (Array.isArray(value)) return value.map((item) => replace(item, secrets));
  if (!isMapping(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replace(item, secrets)]));
}

/** The longest secret first, since it may hold a shorter one. */
function partsOf(text: string, [secret, ...shorter]: readonly Secret[]): (string | Secret)[] {
  if (text === "") return [];
  if (!secret) return [text];
  return text
    .split(secret.value)
    .flatMap((part, index) => [...(index > 0 ? [secret] : []), ...partsOf(part, shorter)]);
}
