import { isCanonical, unsupportedPart } from "./supported";
import { headerValues, queryValues, requestVariables, type Values, type Visit } from "./variables";

/** Whether all expressions are true of a request, after these actions. */
export type Condition = (visit: Visit, actions: Values) => boolean;

/**
 * Compiles the CEL expressions of a rule. They are evaluated by `@bufbuild/cel`, which is loaded only where a policy has
 * expressions, and is not installed with this package.
 *
 * @param place Where the rule stands, for messages; these never quote an expression, since it can hold a secret.
 * @throws Error where that library is missing, for an expression that does not parse, and for one with a variable or a
 *   function that the stand-in does not have.
 */
export async function compile(expressions: readonly string[], place: string): Promise<Condition> {
  if (expressions.length === 0) return () => true;
  const { cel, environment, look } = await loadCel();
  const programs = expressions.map((expression, index) => {
    const parsed = parseOr(
      () => cel.parse(expression),
      `the traffic policy has at ${place}.expressions.${index} what is not valid CEL`,
    );
    const unknown = unsupportedPart(parsed.expr, (name, onValue, count) =>
      [...(environment.funcs.find(name) ?? [])].some(
        (each) => (each.target !== undefined) === onValue && each.arguments.length === count,
      ),
    );
    if (unknown !== undefined)
      throw new Error(`the stand-in does not evaluate ${unknown}: at ${place}.expressions.${index}`);
    return cel.plan(environment, parsed);
  });
  return (visit, actions) => {
    look(visit);
    // The library takes maps, as its documentation says; its types leave them out.
    const variables = { req: requestVariables(visit), actions } as never;
    // What cannot be evaluated (a header that is not there, say) gives an error as its value, which is not true.
    return programs.every((program) => program(variables) === true);
  };
}

function parseOr<T>(parse: () => T, message: string): T {
  try {
    return parse();
  } catch {
    throw new Error(message);
  }
}

/** The library, with the functions that CEL, its strings and the service have. `look` gives the request to the latter. */
async function loadCel() {
  const [cel, { strings }] = await Promise.all([import("@bufbuild/cel"), import("@bufbuild/cel/ext")]).catch(
    () => {
      throw new Error(
        "this policy has expressions; to evaluate them, install the library for it: npm install --save-dev @bufbuild/cel @bufbuild/protobuf",
      );
    },
  );
  let headers = new Map<string, string[]>();
  let query = new Map<string, string[]>();
  const { STRING, BOOL } = cel.CelScalar;
  const list = cel.listType(STRING);
  const header = (name: string) => (isCanonical(name) ? headers.get(name.toLowerCase()) : undefined);
  const environment = cel.celEnv({
    funcs: [
      ...strings,
      cel.celFunc("hasReqHeader", [STRING], BOOL, (name) => header(name) !== undefined),
      cel.celFunc("getReqHeader", [STRING], list, (name) => header(name) ?? []),
      cel.celFunc("hasQueryParam", [STRING], BOOL, (name) => query.has(name)),
      cel.celFunc("getQueryParam", [STRING], list, (name) => query.get(name) ?? []),
    ],
  });
  const look = (visit: Visit) => {
    headers = headerValues(visit);
    query = queryValues(visit);
  };
  return { cel, environment, look };
}
