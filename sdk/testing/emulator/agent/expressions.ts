/** What expressions can ask of a request, under the names that the service's documentation gives. */
export interface Variables {
  req: object;
  actions: object;
}

/** Whether all expressions are true of a request. */
export type Condition = (variables: Variables) => boolean;

/**
 * Compiles the CEL expressions of a rule. They are evaluated by `@bufbuild/cel`, which is loaded only where a policy has
 * expressions, and is not installed with this package.
 *
 * @throws Error where that library is missing, and for an expression that does not parse.
 */
export async function compile(expressions: readonly string[]): Promise<Condition> {
  if (expressions.length === 0) return () => true;
  const cel = await loadCel();
  const environment = cel.celEnv();
  const programs = expressions.map((expression) => {
    try {
      return cel.plan(environment, cel.parse(expression));
    } catch (error) {
      throw new Error(
        `the expression ${JSON.stringify(expression)} is not valid CEL: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  });
  return (variables) =>
    // What cannot be evaluated (a header that is not there, say) gives an error as its value, which is not true.
    programs.every(
      (program) => program({ req: variables.req as never, actions: variables.actions as never }) === true,
    );
}

async function loadCel() {
  try {
    return await import("@bufbuild/cel");
  } catch {
    throw new Error(
      "this policy has expressions; to evaluate them, install the library for it: npm install --save-dev @bufbuild/cel @bufbuild/protobuf",
    );
  }
}
