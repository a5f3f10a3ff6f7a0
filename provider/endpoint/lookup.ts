import { z } from "zod";
import { isNotFound, UserError } from "../api/apiErrors";
import type { EndpointQuery, EndpointsFilter, LiveEndpoint } from "../api/contract";
import type { EndpointsApi } from "../api/endpoints";
import { EVERYTHING, isOneOf, type Selection, servingUrl } from "../api/list";
import { didYouMean, oneLine } from "../api/text";
import { normalizeUrl, spellings, urlOf, urlProblem } from "../api/url";
import { metadataFromText, sameData } from "./documents";
import { MASKED } from "./secrets";

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
      {
        error: "must be an object or text",
      },
    )
    .optional(),
} satisfies Checks<EndpointsFilter>;

/**
 * All arguments of a data source. An unknown one is a mistake: without it, a filter returns more than the program asked for.
 *
 * @param also Wrong names that people use.
 */
function strictArguments<T extends z.ZodRawShape>(
  checks: T,
  also: { [argument in keyof T]?: string[] } = {},
) {
  const all = Object.keys(checks);
  const known = all.map((argument) => [argument, ...(also[argument] ?? [])]);
  const unknown = (key: string) => {
    const hint = didYouMean(key, known) ?? `the arguments are ${all.join(", ")}`;
    return `${oneLine(key, 100)} is no argument of this function; ${hint}`;
  };
  return z.strictObject(checks, {
    error: (issue) =>
      issue.code === "unrecognized_keys" ? issue.keys.map(unknown).join("; ") : "must be an object",
  });
}

export const queryArguments = strictArguments(endpointQuery, { url: ["urlPattern"] });
export const filterArguments = strictArguments(endpointsFilter, {
  urlPattern: ["url", "pattern"],
  binding: ["bindings"],
});

/** The checked arguments of a program's call. @throws UserError with every mistake. */
export function argumentsIn<T>(name: string, schema: z.ZodType<T>, args: unknown): T {
  const parsed = schema.safeParse(args);
  if (parsed.success) return parsed.data;
  const mistakes = parsed.error.issues.map(({ path, message }) => [...path.slice(0, 1), message].join(" "));
  throw new UserError(`${name}: ${mistakes.join("; ")}`);
}

const ENDPOINT_TYPES = ["ephemeral", "edge", "cloud"];

/** Warnings of types that no endpoint has, as far as this version knows. */
export const typeWarnings = ({ types = [] }: Pick<EndpointsFilter, "types">): string[] =>
  types.flatMap((type, index) => {
    if (ENDPOINT_TYPES.includes(type)) return [];
    const hint =
      didYouMean(type, [["ephemeral", "agent", "tunnel"], "edge", "cloud"]) ??
      `the types are ${ENDPOINT_TYPES.join(", ")}. Ignore this if the service has it now`;
    return [`getEndpoints: types[${index}] is no type known to this version; ${hint}`];
  });

/**
 * Finds one endpoint.
 *
 * @param secretUrls The URLs that no message may contain.
 * @throws UserError if there is none, or if there are several.
 */
export async function findEndpoint(
  api: EndpointsApi,
  query: EndpointQuery,
  { fresh }: { fresh: boolean },
  secretUrls: ReadonlySet<unknown> = new Set(),
): Promise<LiveEndpoint> {
  const { id, url } = query;
  const names = Object.keys(query);
  if (id === undefined && url === undefined && names.length > 0)
    throw new UserError(`getEndpoint: ${names.join(" and ")} is undefined; check where the value comes from`);
  if ((id === undefined) === (url === undefined))
    throw new UserError("getEndpoint takes an id or a url, one of the two");
  return withoutOwner(
    await (id !== undefined ? byId(api, id) : byUrl(api, url ?? "", { fresh }, secretUrls)),
  );
}

/** The mark's owner is no field of an endpoint. */
const withoutOwner = ({ createdFor: _, ...endpoint }: LiveEndpoint): LiveEndpoint => endpoint;

async function byId(api: EndpointsApi, id: string): Promise<LiveEndpoint> {
  try {
    return await api.get(id);
  } catch (error) {
    // A 404 without the service's code may come from a proxy, and proves nothing about the endpoint.
    if (!isNotFound(error) || error.code === undefined) throw error;
    throw new UserError(`there is no endpoint ${id}; getEndpoints() lists those of the account`);
  }
}

async function byUrl(
  api: EndpointsApi,
  url: string,
  { fresh }: { fresh: boolean },
  secretUrls: ReadonlySet<unknown>,
): Promise<LiveEndpoint> {
  const wanted = normalizeUrl(url);
  if (wanted === undefined) throw new UserError(`getEndpoint: url ${urlProblem(url)}`);
  let found = await api.list.select(servingUrl(wanted), { fresh });
  // A filtered list proves no absence. It omits edges, for example, which only have a public URL.
  const all = found.length === 0 ? await api.list.select(EVERYTHING, { fresh }) : [];
  if (found.length === 0) found = all.filter((endpoint) => urlOf(endpoint) === wanted);
  const shownUrl = oneLine(wanted, 300);
  const [first] = found;
  if (first && found.length === 1) return first;
  if (first) {
    const ids = found.map(({ id, type }) => `${id} (${type})`).join(", ");
    throw new UserError(
      `${found.length} endpoints serve ${shownUrl}: ${oneLine(ids)}. Give the id of the one to read, or read all of them with getEndpoints({ urlPattern: "${shownUrl}" })`,
    );
  }
  const urls = new Set(all.map(urlOf).filter((other) => other !== undefined));
  const near = nearest(wanted, [...urls]).map((other) => (secretUrls.has(other) ? MASKED : other));
  const shown = oneLine([...new Set(near)].join(", "));
  const came = near.length > 0 ? ` Near it: ${shown}.` : "";
  throw new UserError(
    `no endpoint of the ${all.length} of this account serves ${shownUrl}.${came} getEndpoints() lists them all`,
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
  { fresh }: { fresh: boolean },
  fits?: (metadata: unknown) => boolean,
): Promise<LiveEndpoint[]> {
  const found = await api.list.select(selectionOf(filter), { fresh });
  return found.filter(matcher(filter, fits)).map(withoutOwner);
}

/** The part of a filter that the service cannot apply. */
function matcher(
  { urlPattern, metadata }: EndpointsFilter,
  fits = (live: unknown) => metadataFits(live, metadata),
): (live: LiveEndpoint) => boolean {
  const pattern = urlPattern === undefined ? undefined : wildcard(urlPattern);
  return (live) => (!pattern || pattern.test(urlOf(live) ?? "")) && fits(metadataOf(live));
}

/** The names of a type in filters. The public service's examples use `agent` for the type that its lists call `ephemeral`. */
const namesOfType = (type: string) => (type === "ephemeral" ? [type, "agent"] : [type]);

/**
 * The part of a filter that the service can apply. It excludes metadata, which is compared as data and may carry a mark; the
 * URL if edges are wanted, which only have a public URL; and bindings, whose field the public service documents under two
 * names.
 */
function selectionOf({ types, region, urlPattern, name, binding }: EndpointsFilter): Selection {
  const exact = types && !types.includes("edge") && urlPattern !== undefined && !urlPattern.includes("*");
  const url = exact ? normalizeUrl(urlPattern) : undefined;
  const conditions = [
    types && isOneOf("type", types.flatMap(namesOfType)),
    region !== undefined && isOneOf("region", [region]),
    name !== undefined && isOneOf("name", [name]),
    url !== undefined && isOneOf("url", spellings(url)),
  ].filter((condition) => typeof condition === "string");
  return {
    expression: conditions.length > 0 ? conditions.join(" && ") : undefined,
    includes: (live) =>
      (types === undefined || types.includes(live.type ?? "")) &&
      (region === undefined || live.region === region) &&
      (name === undefined || live.name === name) &&
      (binding === undefined || live.bindings?.includes(binding) === true) &&
      (url === undefined || urlOf(live) === url),
  };
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

/** The most letters in which a URL differs from a similar one. */
const MOST_AWAY = 4;

/** Up to three URLs that the user may have meant, the most similar first: misspelt ones, and those under the same domain. */
function nearest(wanted: string, urls: string[]): string[] {
  // Loaded only after a mistake.
  const { distance }: typeof import("fastest-levenshtein") = require("fastest-levenshtein");
  return urls
    .filter((url) => url.length <= LONGEST_PART)
    .map((url) => ({ url, away: distance(wanted, url) }))
    .filter(({ url, away }) => away <= MOST_AWAY || isRelated(url, wanted))
    .sort((a, b) => a.away - b.away)
    .slice(0, 3)
    .map(({ url }) => url);
}

/** Whether two URLs have the same host, or hosts under the same domain. */
function isRelated(url: string, wanted: string): boolean {
  const host = (text: string) => text.replace(/^\w+:\/\//, "").replace(/:\d+$/, "");
  const [mine, other] = [host(wanted), host(url)];
  const domain = mine.split(".").slice(1).join(".");
  return mine === other || (domain.includes(".") && other.endsWith(`.${domain}`)) || other === domain;
}

/** More characters than a URL of an endpoint has. The limit keeps the time for a search linear in the URL. */
const LONGEST_PART = 2_000;

/** Matches normalized URLs with a pattern, in which `*` matches any text. */
export const wildcard = (pattern: string): Pick<RegExp, "test"> =>
  textPattern(normalizeUrl(pattern) ?? pattern.toLowerCase().replace(/\/$/, ""));

/** Matches texts with a pattern, in which `*` matches any text. Takes time linear in both. */
export function textPattern(pattern: string): Pick<RegExp, "test"> {
  const [first = "", ...others] = pattern.split("*");
  const last = others.pop();
  const isTooLong = others.some(({ length }) => length > LONGEST_PART);
  const test = (url: string) => {
    if (last === undefined) return url === first;
    if (isTooLong) return false;
    if (!url.startsWith(first) || !url.endsWith(last)) return false;
    // The earliest match of each part leaves the most text for the parts after it.
    let at = first.length;
    for (const part of others) {
      const found = url.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return at + last.length <= url.length;
  };
  return { test };
}
