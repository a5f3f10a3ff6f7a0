import type { parse } from "@bufbuild/cel";
import { MAPS, VALUES } from "./variables";

/*
 * What an expression uses, found out before any request: a name that is not known would make the expression untrue for
 * ever, and a policy that verifies nothing would pass every test.
 */

type Expression = NonNullable<ReturnType<typeof parse>["expr"]>;

/** Whether there is such a function, called on a value (`x.f()`) or not, with so many arguments. */
export type Functions = (name: string, onValue: boolean, argumentCount: number) => boolean;

/** Written by the parser for operators and macros, and evaluated without a function. */
const OPERATORS = new Set(["_[_]", "_?_:_", "_&&_", "_||_", "@not_strictly_false"]);
const TYPES = new Set([
  "int",
  "uint",
  "double",
  "bool",
  "string",
  "bytes",
  "list",
  "map",
  "null_type",
  "type",
]);
/** The fields of a cookie, which is the only thing with fields that lists hold. */
const COOKIE = new Set(["name", "value"]);
const OF_HEADERS = new Set(["hasReqHeader", "getReqHeader"]);

/** `X-Version-Id`: the form in which the service wants the names of headers that functions take. */
export const isCanonical = (name: string) =>
  name === name.toLowerCase().replace(/(^|-)[a-z]/g, (c) => c.toUpperCase());

/** The first thing in an expression that the stand-in does not know, by name; undefined where it knows all. */
export function unsupportedPart(
  expression: Expression | undefined,
  functions: Functions,
): string | undefined {
  return partOf(expression, new Set());

  function partOf(expression: Expression | undefined, bound: ReadonlySet<string>): string | undefined {
    if (expression === undefined) return undefined;
    const first = (...parts: (Expression | undefined)[]) => firstOf(parts, bound);
    const kind = expression.exprKind;
    switch (kind.case) {
      case "identExpr": {
        const { name } = kind.value;
        return bound.has(name) || TYPES.has(name) ? undefined : `the variable ${name}`;
      }
      case "selectExpr": {
        const path = pathOf(expression, bound);
        if (path !== undefined)
          return isVariable(path, kind.value.testOnly) ? undefined : `the variable ${path}`;
        const { field, operand } = kind.value;
        return COOKIE.has(field) ? first(operand) : `the field ${field}`;
      }
      case "callExpr":
        return partOfCall(kind.value, bound);
      case "listExpr":
        return first(...kind.value.elements);
      case "structExpr": {
        if (kind.value.messageName !== "") return `the type ${kind.value.messageName}`;
        return first(
          ...kind.value.entries.flatMap(({ keyKind, value }) => [
            keyKind.case === "mapKey" ? keyKind.value : undefined,
            value,
          ]),
        );
      }
      case "comprehensionExpr": {
        const { iterRange, accuInit, loopCondition, loopStep, result, iterVar, iterVar2, accuVar } =
          kind.value;
        const inner = new Set([...bound, iterVar, iterVar2, accuVar]);
        return first(iterRange, accuInit) ?? firstOf([loopCondition, loopStep, result], inner);
      }
      default:
        return undefined;
    }
  }

  function partOfCall(call: CallOf<Expression>, bound: ReadonlySet<string>): string | undefined {
    const { target, args } = call;
    const path = target && pathOf(target, bound);
    // `base64.decode(x)`: what stands before the dot is a part of the function's name.
    const qualified = path !== undefined && !/^(req|actions)(\.|$)/.test(path);
    const name = qualified ? `${path}.${call.function}` : call.function;
    if (!OPERATORS.has(name) && !functions(name, target !== undefined && !qualified, args.length)) {
      return `the function ${name} with ${args.length} ${args.length === 1 ? "argument" : "arguments"}`;
    }
    const [header] = args.map(textOf);
    if (OF_HEADERS.has(name) && header !== undefined && !isCanonical(header)) {
      return `in ${name} a header's name that is not written as in X-Version-Id`;
    }
    return firstOf([qualified ? undefined : target, ...args], bound);
  }

  function firstOf(parts: (Expression | undefined)[], bound: ReadonlySet<string>): string | undefined {
    for (const part of parts) {
      const found = partOf(part, bound);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

type CallOf<T extends Expression> = Extract<T["exprKind"], { case: "callExpr" }>["value"];

/** `req.url.path`, where names and dots are all there is; undefined below a variable of a macro. */
function pathOf(expression: Expression, bound: ReadonlySet<string>): string | undefined {
  const { exprKind: kind } = expression;
  if (kind.case === "identExpr") return bound.has(kind.value.name) ? undefined : kind.value.name;
  if (kind.case !== "selectExpr" || kind.value.operand === undefined) return undefined;
  const operand = pathOf(kind.value.operand, bound);
  return operand === undefined ? undefined : `${operand}.${kind.value.field}`;
}

/** Whether there is such a variable. `has(…)` may ask for one of which only parts have values. */
function isVariable(path: string, isAsked: boolean): boolean {
  const parent = path.slice(0, path.lastIndexOf("."));
  if (VALUES.has(path) || MAPS.has(path) || MAPS.has(parent)) return true;
  return isAsked && [...VALUES, ...MAPS].some((value) => value.startsWith(`${path}.`));
}

function textOf({ exprKind: kind }: Expression): string | undefined {
  if (kind.case !== "constExpr" || kind.value.constantKind.case !== "stringValue") return undefined;
  return kind.value.constantKind.value;
}
