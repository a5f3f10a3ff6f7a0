import { z } from "zod";
import { didYouMean, oneLine } from "../data/index";
import { standInsIn } from "../endpoint/standIns";
import { UserError } from "../service/apiErrors";
import { type EndpointQuery, type EndpointsFilter, EndpointType } from "../service/contract";

/* The arguments of the data sources: their checks, and warnings. */

const textArgument = z.string({ error: "must be text" }).optional();

type Checks<T> = { [Name in keyof T]-?: z.ZodType<T[Name]> };

/** The checks of the arguments of `getEndpoint`. */
export const endpointQuery = {
  id: textArgument,
  url: textArgument,
} satisfies Checks<EndpointQuery>;

/** The checks of the arguments of `getEndpoints`. */
export const endpointsFilter = {
  types: z
    .array(z.string({ error: "must be a name" }), { error: 'must be a list, as in ["cloud"]' })
    .optional(),
  region: textArgument,
  urlPattern: textArgument,
  name: textArgument,
  binding: textArgument,
  metadata: z
    .custom<string | object>(
      (value) => typeof value === "string" || (typeof value === "object" && value !== null),
      { error: "must be an object or text" },
    )
    .check((context) => {
      for (const message of standInsIn(context.value))
        context.issues.push({ code: "custom", message, input: undefined });
    })
    .optional(),
} satisfies Checks<EndpointsFilter>;

/** All arguments of a data source. An unknown one is a mistake: without it, a filter returns more than the program asked for. */
function strictArguments<T extends z.ZodRawShape>(checks: T) {
  const known = Object.keys(checks);
  const unknown = (key: string) => {
    const hint = didYouMean(key, known, `the arguments are ${known.join(", ")}`);
    return `${oneLine(key, 100)} is no argument of this function${hint}`;
  };
  return z.strictObject(checks, {
    error: (issue) =>
      issue.code === "unrecognized_keys" ? issue.keys.map(unknown).join("; ") : "must be an object",
  });
}

export const queryArguments = strictArguments(endpointQuery);
export const filterArguments = strictArguments(endpointsFilter);

/** The checked arguments of a program's call. @throws UserError with every mistake. */
export function argumentsIn<T>(name: string, schema: z.ZodType<T>, args: unknown): T {
  const parsed = schema.safeParse(args);
  if (parsed.success) return parsed.data;
  const mistakes = parsed.error.issues.map(({ path, message }) => [...path.slice(0, 1), message].join(" "));
  throw new UserError(`${name}: ${mistakes.join("; ")}`);
}

export const endpointTypes: readonly string[] = Object.values(EndpointType);

/** Warnings of types that no endpoint has, as far as this version knows. */
export const typeWarnings = ({ types = [] }: Pick<EndpointsFilter, "types">): string[] =>
  types.flatMap((type, index) =>
    endpointTypes.includes(type)
      ? []
      : `getEndpoints: types[${index}] is no type known to this version; the types are ${endpointTypes.join(", ")}. Ignore this if the service has it now`,
  );
