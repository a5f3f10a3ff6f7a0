import { analysed, type Finding } from "./analysis";
import { namesOfExpressions, QUOTED, type Use } from "./cel";

/*
 * Probable mistakes in the expressions of a text. Where the service's documentation contradicts itself or is silent, there is
 * no warning.
 */

/**
 * The mistakes in a text that takes expressions in `${…}`, or that is one.
 *
 * @param phase The phase of the text's rule, if it is known.
 */
export function findingsInText(text: string, isExpression: boolean, phase?: string): Finding[] {
  if (!isExpression && isVariable(text))
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is an expression of the policy's
    return [{ offset: 0, reason: "is text, although it names a variable; write it in ${…}" }];
  const expressions = isExpression ? [{ text, start: 0 }] : embeddedExpressions(text);
  return expressions.flatMap(({ text, start }) => {
    const { findings, uses } = analysed(text);
    const all = findings.length > 0 ? findings : missingInPhase(uses, phase);
    return all.map(({ offset, reason }) => ({ offset: start + offset, reason }));
  });
}

const isVariable = (text: string) =>
  /^[a-z]+\.[\w.]+$/.test(text) && namesOfExpressions().variables.has(text);

/** The use of a name that the phase does not have. */
function missingInPhase(uses: readonly Use[], phase: string | undefined): Finding[] {
  // Nothing is documented of the messages of a stream.
  if (phase === undefined || phase === "on_event_stream_message") return [];
  const missing = uses.find(({ phases }) => phases && !phases.includes(phase));
  if (!missing) return [];
  const { name, offset, isFunction } = missing;
  return [{ offset, reason: `${isFunction ? "calls" : "uses"} ${name}, which does not exist in ${phase}` }];
}

/** A placeholder of the shell, which a pipeline may replace in a file. */
const PLACEHOLDER = /^[A-Z][A-Z0-9_]*$/;

/** The expressions in `${…}`. What a `${` without an end means is not documented. */
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

/** The place of the brace that closes one before the place. After a quote that none closes, each brace counts. */
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
