import { z } from "zod";
import { UserError } from "../service/apiErrors";
import type { EndpointQuery, EndpointsFilter, LiveEndpoint } from "../service/contract";
import type { EndpointsApi } from "../service/endpoints";
import { type Age, EVERYTHING, isOneOf, ofUrl, type Selection } from "../service/list";
import { didYouMean, oneLine } from "../service/text";
import { normalizeUrl, spellings, urlOf, urlProblem } from "../service/url";
import { metadataFromText, sameData } from "./documents";
import { endpointNotFound } from "./errors";
import { ifAbsent } from "./live";
import { standInsIn } from "./outputAsText";

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

/** The types of endpoints that the contract names. */
export const endpointTypes = ["ephemeral", "edge", "cloud"];

/** Warnings of types that no endpoint has, as far as this version knows. */
export const typeWarnings = ({ types = [] }: Pick<EndpointsFilter, "types">): string[] =>
  types.flatMap((type, index) =>
    endpointTypes.includes(type)
      ? []
      : `getEndpoints: types[${index}] is no type known to this version; the types are ${endpointTypes.join(", ")}. Ignore this if the service has it now`,
  );

interface Lookup {
  age: Age;
  /** Stands for a secret id or URL in messages. */
  shown?: string | undefined;
}

/**
 * Finds one endpoint. No message names the URL of another one, which may be secret.
 *
 * @throws UserError if there is none, or if there are several.
 */
export async function findEndpoint(
  api: EndpointsApi,
  query: EndpointQuery,
  { age, shown }: Lookup,
): Promise<LiveEndpoint> {
  const { id, url } = query;
  if (id !== undefined && url !== undefined)
    throw new UserError("getEndpoint takes an id or a url, not both; leave one out");
  if (id !== undefined) return api.get(id).catch(ifAbsent(endpointNotFound(shown ?? id)));
  if (url !== undefined) return byUrl(api, url, { age, shown });
  throw new UserError("getEndpoint takes an id or a url, but has neither; check where the value comes from");
}

async function byUrl(api: EndpointsApi, url: string, lookup: Lookup): Promise<LiveEndpoint> {
  const wanted = normalizeUrl(url);
  if (wanted === undefined) throw new UserError(`getEndpoint: url ${urlProblem(url)}`);
  const { age, shown = oneLine(wanted, 300) } = lookup;
  const selection = ofUrl(wanted);
  const listed = await api.list.select(selection, age);
  // A filtered list proves no absence. It omits edges, for example, which only have a public URL.
  const all = listed.length > 0 ? listed : await api.list.select(EVERYTHING, age);
  const found = all.filter(selection.includes);
  const [first, ...others] = found;
  if (first && others.length === 0) return first;
  if (first) {
    const ids = found.map(({ id, type }) => `${id} (${type})`).join(", ");
    throw new UserError(
      `${found.length} endpoints serve ${shown}: ${oneLine(ids)}. Give the id of the one to read, or read all of them with getEndpoints({ urlPattern: "${shown.replaceAll("*", "\\\\*")}" })`,
    );
  }
  throw new UserError(
    `no endpoint of the ${all.length} of this account serves ${shown}; getEndpoints() lists them all`,
  );
}

/**
 * The endpoints that satisfy the filter, newest first.
 *
 * @param fits Decides about the metadata, as data, instead of the filter.
 */
export async function findEndpoints(
  api: EndpointsApi,
  filter: EndpointsFilter,
  age: Age,
  fits = (metadata: unknown): boolean => metadataFits(metadata, filter.metadata),
): Promise<LiveEndpoint[]> {
  return api.list.select(selectionOf(filter, fits), age);
}

/** The names of a type in filters. The public service's examples use `agent` for the type that its lists call `ephemeral`. */
const namesOfType = (type: string) => (type === "ephemeral" ? [type, "agent"] : [type]);

/**
 * The endpoints of a filter. The expression excludes metadata, which is compared as data; the URL if edges
 * are wanted, which only have a public URL; and bindings, whose field the public service documents under two names.
 */
function selectionOf(filter: EndpointsFilter, fits: (metadata: unknown) => boolean): Selection {
  const { types, region, urlPattern, name } = filter;
  const exact = types && !types.includes("edge") && urlPattern !== undefined && exactText(urlPattern);
  const url = exact ? normalizeUrl(exact) : undefined;
  const conditions = [
    types && isOneOf("type", types.flatMap(namesOfType)),
    region !== undefined && isOneOf("region", [region]),
    name !== undefined && isOneOf("name", [name]),
    url !== undefined && isOneOf("url", spellings(url)),
  ].filter((condition) => typeof condition === "string");
  return {
    expression: conditions.length > 0 ? conditions.join(" && ") : undefined,
    includes: matcher({ ...filter, metadata: fits }),
  };
}

/** What an endpoint must have. */
interface Conditions extends Omit<EndpointsFilter, "metadata"> {
  id?: string | undefined;
  /** Decides about the metadata as data if possible, else as text; undefined if there is none. */
  metadata?: ((metadata: unknown) => boolean) | undefined;
}

/** Whether an endpoint satisfies all given conditions, for data sources and commands alike. */
export function matcher(conditions: Conditions): (live: LiveEndpoint) => boolean {
  const { id, types, region, urlPattern, name, binding, metadata } = conditions;
  const hasUrl = urlPattern === undefined ? () => true : urlMatcher(urlPattern);
  return (live) =>
    (id === undefined || live.id === id) &&
    (types === undefined || types.includes(live.type ?? "")) &&
    (region === undefined || live.region === region) &&
    (name === undefined || live.name === name) &&
    (binding === undefined || live.bindings?.includes(binding) === true) &&
    hasUrl(urlOf(live) ?? "") &&
    (metadata === undefined || metadata(metadataOf(live)));
}

/** An endpoint's metadata as data if possible, else as text; undefined if there is none. */
export function metadataOf({ metadata }: Pick<LiveEndpoint, "metadata">): unknown {
  return metadata === undefined ? undefined : metadataFromText(metadata).data;
}

function metadataFits(live: unknown, wanted: EndpointsFilter["metadata"]): boolean {
  if (wanted === undefined) return true;
  return (
    live !== undefined && sameData(live, typeof wanted === "string" ? metadataFromText(wanted).data : wanted)
  );
}

/** Whether a normalized URL fits a pattern, in any spelling. */
function urlMatcher(pattern: string): (url: string) => boolean {
  const exact = exactText(pattern);
  const text = exact ?? pattern;
  const wanted = normalizeUrl(text) ?? text.toLowerCase().replace(/\/$/, "");
  return exact === undefined ? textPattern(wanted) : (url) => url === wanted;
}

/** The only text that fits a pattern; undefined if several can. */
function exactText(pattern: string): string | undefined {
  const [text, ...others] = partsOf(pattern);
  return others.length === 0 ? text : undefined;
}

/** The texts between the stars of a pattern. */
const partsOf = (pattern: string): string[] =>
  pattern.split(/(?<!\\)\*/).map((part) => part.replaceAll("\\*", "*"));

/** Whether a text fits a pattern, in which `*` matches any text, and `\*` only a star. */
export function textPattern(pattern: string): (text: string) => boolean {
  const [first = "", ...others] = partsOf(pattern);
  const last = others.pop();
  if (last === undefined) return (text) => text === first;
  return (text) => {
    if (!text.startsWith(first) || !text.endsWith(last)) return false;
    // The earliest match of each part leaves the most text for the parts after it.
    let at = first.length;
    for (const part of others) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return at + last.length <= text.length;
  };
}
