import { isMapping, type JsonObject } from "../../../provider/api/json";
import type { Path } from "../../../provider/endpoint/documents";
import { ownTexts } from "../../../provider/endpoint/fields";
import { findSecrets, SHORTEST_SECRET, UNMISTAKABLE } from "../../../provider/endpoint/secrets";
import { vaultReference } from "../../webhooks/webhookChecks";
import { grouped } from "../text";
import type { Adoption } from "./adoptable";
import { uniqueNames } from "./names";

/* Secrets of live policies and metadata. Each gets a name in the stack's configuration, so the code contains no secret. */

export interface ConfigSecret extends SecretValue {
  /** The key in the configuration, without the project's name. */
  name: string;
  places: EndpointPlace[];
}

/** A text and a number are two secrets, even if the configuration has the same for both. */
interface SecretValue {
  type: "text" | "number";
  /** The value in the configuration. */
  value: string;
}

/** A place of a secret: a value below a key that names a secret, or from `at` on the password of a URL. */
interface EndpointPlace {
  id: string;
  url: string;
  path: Path;
  at?: number | undefined;
}

/** A text that contains secrets, in parts. */
export class Mixed {
  constructor(readonly parts: readonly (string | ConfigSecret)[]) {}
}

/**
 * The secrets of all these endpoints. Equal values are one secret.
 *
 * @param names The endpoints' resources, by id.
 * @param isFree Whether the configuration has no other value with this name.
 */
export function secretsOf(
  adoptions: readonly Adoption[],
  names: ReadonlyMap<string, string>,
  isFree: (name: string, value: string) => boolean,
): ConfigSecret[] {
  const unique = uniqueNames("");
  return [...grouped(adoptions.flatMap(foundIn), keyOf).values()].flatMap((places): ConfigSecret[] => {
    const [first] = places;
    if (!first) return [];
    const { type, value } = first;
    const name = unique(secretNameOf(places, names), (one) => !isFree(one, value));
    return [{ name, type, value, places }];
  });
}

/** Finds all exact copies of these secrets in an endpoint's inputs, and returns the inputs with `Mixed` in their place. */
export function secretExtraction(secrets: readonly ConfigSecret[]): (adoption: Adoption) => JsonObject {
  const byKey = new Map(secrets.map((secret) => [keyOf(secret), secret]));
  const inAllTexts = secretAt(secrets.filter(({ value }) => value.length >= UNMISTAKABLE));
  const isShort = ({ type, value: { length } }: ConfigSecret) =>
    type === "text" && length >= SHORTEST_SECRET && length < UNMISTAKABLE;

  return (adoption) => {
    /** By path, and by the start of a URL's password. */
    const inPlace = new Map<string, Map<number | undefined, ConfigSecret>>();
    for (const one of foundIn(adoption)) {
      const secret = byKey.get(keyOf(one));
      const path = JSON.stringify(one.path);
      if (secret) inPlace.set(path, (inPlace.get(path) ?? new Map()).set(one.at, secret));
    }
    const inItsTexts = secretAt(
      [...new Set([...inPlace.values()].flatMap((all) => [...all.values()]))].filter(isShort),
    );
    const extract = (value: unknown, path: Path): unknown => {
      const here = inPlace.get(JSON.stringify(path));
      const own = here?.get(undefined);
      if (typeof value === "number") {
        const text = String(value);
        const copied =
          text.length >= UNMISTAKABLE ? byKey.get(keyOf({ type: "number", value: text })) : undefined;
        const secret = own ?? copied;
        return secret ? new Mixed([secret]) : value;
      }
      if (typeof value === "string") {
        const parts = own
          ? framed(value, own)
          : splitAtSecrets(value, (at) => here?.get(at) ?? inAllTexts(value, at) ?? inItsTexts(value, at));
        return parts.every((part) => typeof part === "string") ? value : new Mixed(parts);
      }
      if (Array.isArray(value)) return value.map((item, index) => extract(item, [...path, index]));
      if (!isMapping(value)) return value;
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, extract(item, [...path, key])]),
      );
    };
    const entries = Object.entries(adoption.inputs).map(([name, value]) => [
      name,
      ownTexts.some((own) => own === name) ? extract(value, [name]) : value,
    ]);
    return Object.fromEntries(entries);
  };
}

function foundIn({ live: { id }, inputs }: Adoption): (SecretValue & EndpointPlace)[] {
  const { url, trafficPolicy, metadata, description } = inputs;
  return findSecrets({ trafficPolicy, metadata, description }).flatMap(({ path, secret, at }) => {
    const type = typeof secret === "number" ? "number" : "text";
    const value = at === undefined ? withoutFrame(String(secret)) : String(secret);
    if (value === "" || vaultReference(value) !== undefined) return [];
    return [{ id, url: String(url), path, at, type, value } as const];
  });
}

const keyOf = ({ type, value }: SecretValue) => `${type} ${value}`;

/**
 * The text without the scheme of an `Authorization` header, which is not secret, and without a line break at its end, which
 * cannot be piped into `pulumi config set`.
 */
function withoutFrame(text: string): string {
  return text.replace(/^(Bearer|Basic|Token|ApiKey) +(?=[^\r\n ])/i, "").replace(/[\r\n]+$/, "");
}

/** The parts of the text at the secret's own place. */
function framed(text: string, secret: ConfigSecret): (string | ConfigSecret)[] {
  const at = text.lastIndexOf(secret.value);
  return [text.slice(0, at), secret, text.slice(at + secret.value.length)].filter((part) => part !== "");
}

/** The secret's key in the document, after its endpoint's name if only one endpoint has the secret. */
function secretNameOf(places: readonly EndpointPlace[], names: ReadonlyMap<string, string>): string {
  const ids = new Set(places.map(({ id }) => id));
  const owner = ids.size === 1 ? names.get(places[0]?.id ?? "") : undefined;
  const [{ path, at } = { path: [] }] = places;
  const key = path.findLast((part) => typeof part === "string") ?? "";
  return camelCase(`${owner ?? ""} ${key} ${at === undefined ? "" : "password"}`) || "secret";
}

/** Finds the longest of these secrets at a place of a text. An account can have thousands of secrets, of few lengths. */
function secretAt(secrets: readonly ConfigSecret[]): (text: string, at: number) => ConfigSecret | undefined {
  const startOf = (text: string, at = 0) => text.slice(at, at + SHORTEST_SECRET);
  const byValue = new Map([...secrets].reverse().map((secret) => [secret.value, secret]));
  const lengths = new Map<string, number[]>();
  for (const value of [...byValue.keys()].sort((a, b) => b.length - a.length)) {
    const known = lengths.get(startOf(value)) ?? [];
    if (known.at(-1) !== value.length) lengths.set(startOf(value), [...known, value.length]);
  }
  return (text, at) => {
    const candidates = lengths
      .get(startOf(text, at))
      ?.map((length) => byValue.get(text.slice(at, at + length)));
    return candidates?.find((secret) => secret !== undefined);
  };
}

/** Splits a text at its secrets. Of overlapping secrets, the first one counts. */
function splitAtSecrets(
  text: string,
  secretAt: (at: number) => ConfigSecret | undefined,
): (string | ConfigSecret)[] {
  const parts: (string | ConfigSecret)[] = [];
  let done = 0;
  for (let at = 0; at < text.length; at++) {
    const secret = at < done ? undefined : secretAt(at);
    if (!secret) continue;
    parts.push(text.slice(done, at), secret);
    done = at + secret.value.length;
  }
  return [...parts, text.slice(done)].filter((part) => part !== "");
}

/** `shopExampleCom` for `shop-example-com`. */
function camelCase(name: string): string {
  const [first = "", ...others] = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const capital = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1);
  return first.slice(0, 1).toLowerCase() + first.slice(1) + others.map(capital).join("");
}
