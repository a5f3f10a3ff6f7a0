import { analyse, type Finding } from "./analysis";
import { type NameUse, namesOfExpressions, QUOTED } from "./cel";

/*
 * Finds probable mistakes in the expressions of a text. Where the service's documentation contradicts itself or is silent, there
 * is no warning.
 */

/**
 * Finds the mistakes in the expressions of a text.
 *
 * @param isExpression Whether the whole text is an expression. Otherwise, expressions are in `${…}`.
 * @param phase The phase of the text's rule, if it is known.
 */
export function findingsInText(text: string, isExpression: boolean, phase?: string): Finding[] {
  if (!isExpression && isVariable(text))
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is an expression of the policy's
    return [{ offset: 0, reason: "is text, although it names a variable; write it in ${…}" }];
  const expressions = isExpression ? [{ text, start: 0 }] : embeddedExpressions(text);
  return expressions.flatMap(({ text, start }) => {
    const { findings, uses } = analyse(text);
    const all = findings.length > 0 ? findings : missingInPhase(uses, phase);
    return all.map(({ offset, reason }) => ({ offset: start + offset, reason }));
  });
}

const isVariable = (text: string) =>
  /^[a-z]+\.[\w.]+$/.test(text) && namesOfExpressions().variables.has(text);

/** The first use of a name that the phase does not have. */
function missingInPhase(uses: readonly NameUse[], phase: string | undefined): Finding[] {
  // The documentation does not say which variables exist for the messages of a stream.
  if (phase === undefined || phase === "on_event_stream_message") return [];
  const missing = uses.find(({ phases }) => phases && !phases.includes(phase));
  if (!missing) return [];
  const { name, offset, isFunction } = missing;
  return [{ offset, reason: `${isFunction ? "calls" : "uses"} ${name}, which does not exist in ${phase}` }];
}

/** The name in a placeholder such as `${DOMAIN}`, which a pipeline may replace in a file. */
const PLACEHOLDER = /^[A-Z][A-Z0-9_]*$/;

/** The expressions in `${…}`. A `${` without an end is skipped, because its meaning is not documented. */
function embeddedExpressions(text: string): { text: string; start: number }[] {
  const expressions: { text: string; start: number }[] = [];
  for (let at = text.indexOf("${"); at >= 0; ) {
    const start = at + 2;
    const end = endOfBraces(text, start);
    if (end === undefined) break;
    const inside = text.slice(start, end);
    if (!PLACEHOLDER.test(inside)) expressions.push({ text: inside, start });
    at = text.indexOf("${", end);
  }
  return expressions;
}

/** The offset of the closing brace. Braces in quotes do not count, except after a quote that is not closed. */
function endOfBraces(text: string, from: number): number | undefined {
  let tokens = new RegExp(`${QUOTED}|\\\\.|["'{}]`, "g");
  tokens.lastIndex = from;
  let depth = 1;
  for (let token = tokens.exec(text); token; token = tokens.exec(text)) {
    if (token[0] === "{") depth++;
    if (token[0] === "}" && --depth === 0) return token.index;
    if (token[0] === "'" || token[0] === '"') {
      tokens = /[{}]/g;
      tokens.lastIndex = token.index;
    }
  }
  return undefined;
}
