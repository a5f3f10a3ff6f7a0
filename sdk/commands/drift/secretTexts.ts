import { isMapping, type JsonObject, normalizeUrl, partsOf } from "../../../provider/data/index";
import { documentsAsData } from "../../../provider/endpoint/fields";
import { findSecrets, isSecretName, MASKED, secretsIn } from "../../../provider/endpoint/secretSearch";
import type { ManagedEndpoint } from "../userProject";

/*
 * What no report shows, because many people read it: a value with a secret in it, and copies of the URLs, descriptions and metadata
 * that a state marks as secret.
 */

/** A shorter text may be an ordinary word, so it is a copy only if it is the whole text. */
const MIN_PART_LENGTH = 8;

export class SecretTexts {
  constructor(private readonly texts: ReadonlySet<string>) {}

  /** The URLs, descriptions and metadata that these entries mark as secret. */
  static of(entries: readonly ManagedEndpoint[]): SecretTexts {
    return new SecretTexts(new Set(entries.flatMap((one) => markedTexts(one, TOLD_FIELDS))));
  }

  /** These texts and the secrets of one endpoint, on both sides. */
  and(entry: ManagedEndpoint | undefined, live: JsonObject): SecretTexts {
    const marked = entry ? markedTexts(entry, [...entry.secrets]) : [];
    return new SecretTexts(new Set([...this.texts, ...marked, ...secretsIn([entry?.inputs, live])]));
  }

  /** Whether a value has a secret in it. */
  isIn(value: unknown): boolean {
    return (
      findSecrets(value).length > 0 ||
      [...partsOf(value)].some(([, part]) => isMapping(part) && isNamedSecret(part)) ||
      textsOf(value).some((text) => this.without(text) !== text)
    );
  }

  /** A text, unless it has a secret in it. */
  shown = (text: string): string => (this.isIn(text) ? MASKED : text);

  /** A message without these texts. */
  without(message: string): string {
    if (this.texts.has(message)) return MASKED;
    const parts = [...this.texts].filter((text) => text.length >= MIN_PART_LENGTH);
    return parts.reduce((text, part) => text.replaceAll(part, MASKED), message);
  }
}

/** The fields that other endpoints and messages may repeat. */
const TOLD_FIELDS = ["url", "description", "metadata"];

/** The texts of these fields if the entry's state marks them as secret. */
function markedTexts({ inputs, outputs, secrets }: ManagedEndpoint, fields: readonly string[]): string[] {
  const marked = fields.filter((name) => secrets.has(name));
  const texts = [inputs, documentsAsData(outputs)].flatMap((side) =>
    marked.flatMap((name) => textsOf(side[name], false)),
  );
  return texts.flatMap((text) => (text === "" ? [] : [text, normalizeUrl(text) ?? text]));
}

/** All texts and numbers in a document as texts, and its keys. */
const textsOf = (value: unknown, withKeys = true): string[] =>
  [...partsOf(value)].flatMap(([path, part]) => [
    ...(withKeys ? path.slice(-1).map(String) : []),
    ...(typeof part === "string" || typeof part === "number" ? [`${part}`] : []),
  ]);

/** `{name: "authorization", value: "…"}` */
const NAMES = ["name", "key", "header"];
const VALUES = ["value", "values"];

function isNamedSecret(mapping: JsonObject): boolean {
  const all = Object.entries(mapping).map(([key, value]): [string, unknown] => [key.toLowerCase(), value]);
  const isSecret = (value: unknown) => typeof value === "string" && isSecretName(value);
  return (
    all.some(([key, value]) => NAMES.includes(key) && isSecret(value)) &&
    all.some(([key]) => VALUES.includes(key))
  );
}
