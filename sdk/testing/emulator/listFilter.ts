import type { WireEndpoint } from "../../../provider/api/contract";

/*
 * The filters of lists, as far as the provider writes them: `obj.FIELD == "TEXT"` and `obj.FIELD in ["TEXT", "TEXT"]`, and several
 * of these joined by `&&`. The public service takes all of CEL; here everything else is refused.
 */

/** What the provider filters by. A field that an endpoint lacks is empty. */
const FIELDS = ["type", "url", "name", "region"] as const;

/** JSON's escapes are CEL's. */
const TEXT = String.raw`"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"`;
const COMPARISON = `obj\\.(${FIELDS.join("|")}) (?:== (${TEXT})|in (\\[(?:${TEXT}(?:, ${TEXT})*)?\\]))`;
const WHOLE = new RegExp(`^${COMPARISON}(?: && ${COMPARISON})*$`);

/** What is wrong with an expression. */
export class FilterError extends Error {}

/**
 * Whether an endpoint fits an expression.
 *
 * @throws FilterError where the expression is not one of these.
 */
export function parseFilter(expression: string): (endpoint: WireEndpoint) => boolean {
  if (!WHOLE.test(expression))
    throw new FilterError(
      `the emulator knows comparisons of ${FIELDS.join(", ")} with == or in, joined by && only`,
    );
  const comparisons = [...expression.matchAll(new RegExp(COMPARISON, "g"))].map(([, field, text, list]) => ({
    field: field as (typeof FIELDS)[number],
    texts: JSON.parse(list ?? `[${text}]`) as string[],
  }));
  return (endpoint) => comparisons.every(({ field, texts }) => texts.includes(endpoint[field] ?? ""));
}
