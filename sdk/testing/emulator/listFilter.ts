import type { WireEndpoint } from "../../../provider/api/contract";

/*
 * The filters of lists, as far as the provider writes them: `obj.FIELD == "TEXT"` and `obj.FIELD in ["TEXT", "TEXT"]`. The public
 * service takes all of CEL; here everything else is refused.
 */

/** The fields of texts that a filter can name. One that an endpoint lacks is empty. */
const fields = {
  id: ({ id }) => id,
  type: ({ type }) => type,
  url: ({ url }) => url,
  name: ({ name }) => name,
  description: ({ description }) => description,
  metadata: ({ metadata }) => metadata,
  region: ({ region }) => region,
  scheme: ({ scheme }) => scheme,
  binding: ({ bindings }) => bindings?.[0],
  "principal.id": ({ principal }) => principal?.id,
} satisfies Record<string, (endpoint: WireEndpoint) => string | undefined>;

/** What is wrong with an expression. */
export class FilterError extends Error {}

/**
 * Whether an endpoint fits an expression.
 *
 * @throws FilterError where the expression is not one of these.
 */
export function parseFilter(expression: string): (endpoint: WireEndpoint) => boolean {
  const [, field = "", operator, right = ""] = /^obj\.([\w.]+) (==|in) (.*)$/s.exec(expression) ?? [];
  if (operator === undefined)
    throw new FilterError('the emulator knows obj.FIELD == "TEXT" and obj.FIELD in ["TEXT", …] only');
  if (!Object.hasOwn(fields, field)) throw new FilterError(`endpoints have no text ${field}`);
  const texts = textsOf(operator === "in" ? right : `[${right}]`);
  if (operator === "==" && texts.length !== 1) throw new FilterError("== takes one text");
  return (endpoint) => texts.includes(fields[field as keyof typeof fields](endpoint) ?? "");
}

/** JSON's escapes are CEL's. */
function textsOf(list: string): string[] {
  let texts: unknown;
  try {
    texts = JSON.parse(list);
  } catch {
    throw new FilterError(`${list} is no list of texts`);
  }
  if (Array.isArray(texts) && texts.every((text) => typeof text === "string")) return texts;
  throw new FilterError(`${list} is no list of texts`);
}
