import { isMapping, parseJson } from "./api/json";
import { searchFor } from "./search";
import { MASKED, SHORTEST_SECRET, secretsIn, UNMISTAKABLE } from "./secrets";

/*
 * Removes known secrets from the service's texts. A service may repeat a refused value in any spelling: as JSON (within JSON),
 * escaped for HTML, encoded for a URL, in other letter case, wrapped, or cut off. So a text is searched in layers, each with
 * one level of escapes less, and without the characters that differ between spellings.
 */

/** The escapes that each layer removes: URL encoding, escapes of JSON and of Go, entities of HTML. */
const ESCAPE =
  /((?:%[\da-fA-F]{2})+)|\\+(?:u([\da-fA-F]{4})|U([\da-fA-F]{8})|x([\da-fA-F]{2})|[nrt])|&(?:#(\d{1,6})|#[xX]([\da-fA-F]{1,5})|(amp|lt|gt|quot|apos));/g;

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** No service escapes a text more often. The limit bounds the time for nested escapes. */
const MOST_LAYERS = 6;

/** The characters that differ between spellings: white space, the plus sign that encodes it in URLs, backslashes. */
const VARYING = /[\s+\\]/;

/** A longer message is cut before it is cleaned. */
const LONGEST_MESSAGE = 10_000;

/** A text with, for each of its characters, the start and the end of its spelling in the original. */
interface Layer {
  text: string;
  from: number[];
  to: number[];
}

/** The start and the end of a part of the original. */
type Span = [from: number, to: number];

/** Whether the program marked exactly this text, or a larger value that contains it. */
type Kind = "whole" | "part";

/** Removes secrets from texts, in any spelling. */
export class Redaction {
  /** All secrets, in the folded spelling. */
  private readonly secrets = new Map<string, Kind>();
  /** Searches for all secrets, by the least length of secrets of the kind `part`. */
  private readonly searches = new Map<number, ReturnType<typeof searchFor>>();
  /** Secrets that are too short to be cut out of a message, in their own spelling. */
  private readonly words = new Set<string>();
  /** All pieces of `UNMISTAKABLE` characters of longer secrets, and their shorter beginnings and ends. */
  private readonly pieces = new Set<string>();
  private readonly beginnings = new Set<string>();
  private readonly ends = new Set<string>();
  /** Secrets that have not been cut into pieces yet, because most runs have no message to clean. */
  private readonly unsorted = new Set<string>();

  constructor(secrets: Iterable<string> = []) {
    for (const secret of secrets) this.add(secret);
  }

  add(secret: string, kind: Kind = "whole"): void {
    // A secret may contain escapes itself, and a text may have lost them.
    for (const layer of layersOf(secret)) {
      const { text } = folded(layer);
      if (text === "" || this.secrets.get(text) === "whole") continue;
      this.secrets.set(text, kind);
      this.searches.clear();
      if (text.length < SHORTEST_SECRET) this.words.add(layer.text.toLowerCase());
      else if (text.length >= UNMISTAKABLE) this.unsorted.add(text);
    }
  }

  /** Adds the values under secret names in the documents of a request. */
  learnFromRequest(body: object): void {
    const { traffic_policy, metadata } = isMapping(body) ? body : {};
    for (const text of [traffic_policy, metadata]) {
      if (typeof text === "string") for (const secret of secretsIn(dataOf(text))) this.add(secret);
    }
  }

  /** A text without the secrets. Secrets of less than four characters stay, because many texts contain them. */
  redacted(text: string): string {
    const search = this.search(SHORTEST_SECRET);
    const found = layersOf(text)
      .map(folded)
      .flatMap((fold) => [...search(fold.text)].map(({ start, end }) => spanOf(fold, start, end)));
    return masked(text, found);
  }

  /**
   * Whether a text contains a secret. Parts of a larger secret count only if they are long, because a policy that is secret as
   * a whole contains ordinary words.
   */
  isIn(text: string): boolean {
    const search = this.search(UNMISTAKABLE);
    return layersOf(text).some((layer) => {
      const fold = folded(layer).text;
      const [found] = search(fold);
      return found !== undefined || this.secrets.get(fold) === "whole";
    });
  }

  /**
   * A message without the secrets and without pieces of them, because a quotation may be cut off.
   *
   * Secrets of one to three characters cannot be cut out: the gap in the sentence would reveal the word. A message with such
   * a secret as a word is masked as a whole.
   */
  cleaned(message: string): string {
    this.sort();
    const text = message.slice(0, LONGEST_MESSAGE);
    const layers = layersOf(text);
    if (layers.some((layer) => this.hasWord(layer.text.toLowerCase()))) return MASKED;
    return masked(
      text,
      layers.flatMap((layer) => this.piecesIn(folded(layer))),
    );
  }

  private hasWord(text: string): boolean {
    const lengths = new Set([...this.words].map(({ length }) => length));
    return [...lengths].some((length) => {
      for (let at = 0; at + length <= text.length; at++) {
        const beside = `${text[at - 1] ?? ""}${text[at + length] ?? ""}`;
        if (this.words.has(text.slice(at, at + length)) && !/[\p{L}\p{N}]/u.test(beside)) return true;
      }
      return false;
    });
  }

  private search(leastOfPart: number): ReturnType<typeof searchFor> {
    const known = this.searches.get(leastOfPart);
    if (known) return known;
    const isLong = ([secret, kind]: [string, Kind]) =>
      secret.length >= (kind === "whole" ? SHORTEST_SECRET : leastOfPart);
    const search = searchFor([...this.secrets].filter(isLong).map(([secret]) => secret));
    this.searches.set(leastOfPart, search);
    return search;
  }

  private piecesIn(fold: Layer): Span[] {
    const { text } = fold;
    const found: Span[] = [];
    const look = (known: Pick<Set<string>, "has">, from: number, to: number) => {
      if (from >= 0 && known.has(text.slice(from, to))) found.push(spanOf(fold, from, to));
    };
    for (let at = 0; at < text.length; at++) {
      // Shorter secrets are recognized as a whole only.
      for (let length = SHORTEST_SECRET; length < UNMISTAKABLE; length++) look(this.secrets, at, at + length);
      look(this.pieces, at, at + UNMISTAKABLE);
    }
    // Next to an ellipsis, fewer characters are enough.
    for (const { index, 0: cut } of text.matchAll(/\.{3}|…|$/g)) {
      for (let length = SHORTEST_SECRET; length < UNMISTAKABLE; length++) {
        look(this.beginnings, index - length, index);
        look(this.ends, index + cut.length, index + cut.length + length);
      }
    }
    return found;
  }

  private sort(): void {
    for (const secret of this.unsorted) {
      for (let at = 0; at + UNMISTAKABLE <= secret.length; at++)
        this.pieces.add(secret.slice(at, at + UNMISTAKABLE));
      for (let length = SHORTEST_SECRET; length < UNMISTAKABLE; length++) {
        this.beginnings.add(secret.slice(0, length));
        this.ends.add(secret.slice(-length));
      }
    }
    this.unsorted.clear();
  }
}

/** The text, followed by the same text with one level of escapes after the other removed. */
function layersOf(text: string): Layer[] {
  const from = Array.from({ length: text.length }, (_, index) => index);
  const layers: Layer[] = [];
  let next: Layer | undefined = { text, from, to: from.map((index) => index + 1) };
  while (next && layers.length < MOST_LAYERS) {
    layers.push(next);
    next = unescaped(next);
  }
  return layers;
}

/** The text with one level of escapes removed; undefined if it has none. */
function unescaped({ text, from, to }: Layer): Layer | undefined {
  const parts: string[] = [];
  const layer: Layer = { text: "", from: [], to: [] };
  let done = 0;
  const take = (part: string, start: number, end: number) => {
    parts.push(part);
    for (let unit = 0; unit < part.length; unit++) {
      layer.from.push(from[start] ?? 0);
      layer.to.push(to[end - 1] ?? 0);
    }
  };
  const copy = (until: number) => {
    for (; done < until; done++) take(text.charAt(done), done, done + 1);
  };
  for (const { index, 0: whole, 1: encoded, ...groups } of text.matchAll(ESCAPE)) {
    copy(index);
    done += whole.length;
    if (encoded === undefined) {
      take(characterOf([groups[2], groups[3], groups[4], groups[6]], groups[5], groups[7]), index, done);
      continue;
    }
    let start = index;
    for (const character of Buffer.from(encoded.replaceAll("%", ""), "hex").toString("utf8")) {
      const end = Math.min(done, start + 3 * Buffer.byteLength(character));
      take(character, Math.min(start, done - 1), end);
      start = end;
    }
  }
  if (done === 0) return undefined;
  copy(text.length);
  return { ...layer, text: parts.join("") };
}

/** The character that an escape means. An escape without any of these parts is white space. */
function characterOf(
  hexadecimal: (string | undefined)[],
  decimal: string | undefined,
  entity: string | undefined,
): string {
  if (entity !== undefined) return ENTITIES[entity] ?? "";
  const hex = hexadecimal.find((digits) => digits !== undefined);
  const code = hex !== undefined ? Number.parseInt(hex, 16) : decimal !== undefined ? Number(decimal) : 0x20;
  return code <= 0x10ffff ? String.fromCodePoint(code) : "";
}

/** The text in lower case, without the characters that differ between spellings. */
function folded(layer: Layer): Layer {
  const kept = [...layer.from.keys()].filter((index) => !VARYING.test(layer.text.charAt(index)));
  return {
    text: kept
      .map((index) => layer.text.charAt(index).replace(/[A-Z]/, (capital) => capital.toLowerCase()))
      .join(""),
    from: kept.map((index) => layer.from[index] ?? 0),
    to: kept.map((index) => layer.to[index] ?? 0),
  };
}

const spanOf = ({ from, to }: Layer, start: number, end: number): Span => [
  from[start] ?? 0,
  to[end - 1] ?? 0,
];

function masked(text: string, spans: Span[]): string {
  let shown = "";
  let done = 0;
  for (const [from, to] of spans.sort(([a], [b]) => a - b)) {
    if (from >= done) shown += text.slice(done, from) + (from === done && done > 0 ? "" : MASKED);
    done = Math.max(done, to);
  }
  return shown + text.slice(done);
}

function dataOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
