import { dataSources, type Member, mistakesInCall, outputNames, resources } from "./packageNames";

/**
 * What is wrong with how a Python program uses the generated SDK, going by the package schema alone: calls of
 * `endpoints.…`, their keyword arguments, and the attributes of what they give.
 */
export function mistakesInPython(text: string): string[] {
  const code = withoutTexts(text);
  const calls = [...code.matchAll(/\bendpoints\.(\w+)\(/g)].flatMap(({ 0: opening, 1: name = "", index }) => {
    const given = keywordsIn(code.slice(index + opening.length)).filter((keyword) => keyword !== "opts");
    return mistakesInCall(name, callable.get(name), given);
  });
  const attributes = [...code.matchAll(/\b(\w+)\.(\w+)\b(?!\()/g)]
    .filter(([, object = ""]) => object !== "pulumi" && object !== "endpoints")
    .flatMap(([, , name = ""]) => (outputsInPython.has(name) ? [] : [`nothing has the attribute ${name}`]));
  return [...calls, ...attributes];
}

/** The name that the generator makes of one in the schema. */
export const inPython = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const outputsInPython = new Set([...outputNames].map(inPython));

const callable: ReadonlyMap<string, Member> = new Map(
  [...resources, ...dataSources].flatMap(([token, member]) => {
    const name = token === "pulumi:providers:endpoints" ? "Provider" : (token.split(":").at(-1) ?? "");
    const named: Member = {
      takes: new Set([...member.takes].map(inPython)),
      demands: member.demands.map(inPython),
      gives: member.gives,
    };
    if (/^[A-Z]/.test(name)) return [[name, named] as const];
    // A data source has a form that takes what is known only later.
    return [[inPython(name), named] as const, [`${inPython(name)}_output`, named] as const];
  }),
);

/** Blanks out comments, and what stands in quotes. */
function withoutTexts(code: string): string {
  return code.replace(
    /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#.*/g,
    (found) => (found.startsWith("#") ? "" : '""'),
  );
}

/** The keywords of a call, from what follows its opening parenthesis; those of calls within it are not its own. */
function keywordsIn(code: string): string[] {
  const keywords: string[] = [];
  let depth = 0;
  for (const [token, keyword] of code.matchAll(/[([{]|[)\]}]|\b(\w+)\s*=(?!=)/g)) {
    if (/[([{]/.test(token)) depth++;
    else if (/[)\]}]/.test(token)) depth--;
    else if (depth === 0 && keyword) keywords.push(keyword);
    if (depth < 0) break;
  }
  return keywords;
}
