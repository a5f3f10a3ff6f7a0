import type { WireEndpoint } from "../../../provider/api/contract";

/*
 * The filter expressions that the provider sends: `obj.FIELD == "TEXT"`, `obj.FIELD in ["TEXT", "TEXT"]`, and several of
 * these joined by `&&`. The public service accepts any CEL expression. The emulator refuses all others.
 */

/** The fields that the provider filters by. A missing field equals `""`. */
const FIELDS = ["type", "url", "name", "region"] as const;

/** A text with the escapes that JSON and CEL have in common. */
const TEXT = String.raw`"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"`;
const COMPARISON = `obj\\.(${FIELDS.join("|")}) (?:== (${TEXT})|in (\\[(?:${TEXT}(?:, ${TEXT})*)?\\]))`;
const WHOLE = new RegExp(`^${COMPARISON}(?: && ${COMPARISON})*$`);

/** Its message contains the supported expressions. */
export class FilterError extends Error {}

/**
 * Returns a function that tests whether an endpoint matches the expression.
 *
 * @throws FilterError if the expression is not supported.
 */
export function parseFilter(expression: string): (endpoint: WireEndpoint) => boolean {
  if (!WHOLE.test(expression))
    throw new FilterError(
      `the emulator supports only comparisons of ${FIELDS.join(", ")} with == or in, joined by &&`,
    );
  const comparisons = [...expression.matchAll(new RegExp(COMPARISON, "g"))].map(([, field, text, list]) => ({
    field: field as (typeof FIELDS)[number],
    texts: JSON.parse(list ?? `[${text}]`) as string[],
  }));
  return (endpoint) => comparisons.every(({ field, texts }) => texts.includes(endpoint[field] ?? ""));
}
