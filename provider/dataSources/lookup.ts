import { normalizeUrl, oneLine, urlProblem } from "../data/index";
import { metadataFromText, sameData } from "../endpoint/documents";
import { endpointNotFound } from "../endpoint/errors";
import { ifService404 } from "../endpoint/readEndpoint";
import { UserError } from "../service/apiErrors";
import type { Endpoint, EndpointQuery, EndpointsFilter } from "../service/contract";
import type { EndpointsApi } from "../service/endpoints";
import { ALL_ENDPOINTS, endpointsOfUrl, type Freshness, isOneOf, type Selection } from "../service/list";
import { urlOf, urlSpellings } from "../service/url";
import { literalText, urlMatcher } from "./textPatterns";

interface Lookup {
  freshness: Freshness;
  /** Stands for a secret id or URL in messages. */
  display?: string | undefined;
}

/**
 * Finds one endpoint. No message names the URL of another one, which may be secret.
 *
 * @throws UserError if there is none, or if there are several.
 */
export async function findEndpoint(
  api: EndpointsApi,
  query: EndpointQuery,
  { freshness, display }: Lookup,
): Promise<Endpoint> {
  const { id, url } = query;
  if (id !== undefined && url !== undefined)
    throw new UserError("getEndpoint takes an id or a url, not both; leave one out");
  if (id !== undefined) return api.get(id).catch(ifService404(endpointNotFound(display ?? id)));
  if (url !== undefined) return byUrl(api, url, { freshness, display });
  throw new UserError("getEndpoint takes an id or a url, but has neither; check where the value comes from");
}

async function byUrl(api: EndpointsApi, url: string, lookup: Lookup): Promise<Endpoint> {
  const wanted = normalizeUrl(url);
  if (wanted === undefined) throw new UserError(`getEndpoint: url ${urlProblem(url)}`);
  const { freshness, display = oneLine(wanted, 300) } = lookup;
  const { found, listed } = await endpointsOnUrl(api, wanted, freshness);
  const [first, ...others] = found;
  if (first && others.length === 0) return first;
  if (first) {
    const ids = found.map(({ id, type }) => `${id} (${type})`).join(", ");
    throw new UserError(
      `${found.length} endpoints serve ${display}: ${oneLine(ids)}. Give the id of the one to read, or read all of them with getEndpoints({ urlPattern: "${display.replaceAll("*", "\\\\*")}" })`,
    );
  }
  throw new UserError(
    `no endpoint of the ${listed} of this account serves ${display}; getEndpoints() lists them all`,
  );
}

/** The endpoints of any type on a normalized URL, and the number of those that were listed to find them. */
export async function endpointsOnUrl(
  { list }: EndpointsApi,
  url: string,
  freshness: Freshness,
): Promise<{ found: Endpoint[]; listed: number }> {
  const selection = endpointsOfUrl(url);
  const filtered = await list.select(selection, freshness);
  // A filtered list proves no absence. It omits edges, for example, which only have a public URL.
  const all = filtered.length > 0 ? filtered : await list.select(ALL_ENDPOINTS, freshness);
  return { found: all.filter(selection.includes), listed: all.length };
}

/**
 * The endpoints that satisfy the filter, newest first.
 *
 * @param fits Decides about the metadata, as data, instead of the filter.
 */
export async function findEndpoints(
  api: EndpointsApi,
  filter: EndpointsFilter,
  freshness: Freshness,
  fits = (metadata: unknown): boolean => metadataFits(metadata, filter.metadata),
): Promise<Endpoint[]> {
  return api.list.select(selectionOf(filter, fits), freshness);
}

/** The names of a type in filters. The public service's examples use `agent` for the type that its lists call `ephemeral`. */
const namesOfType = (type: string) => (type === "ephemeral" ? [type, "agent"] : [type]);

/**
 * The endpoints of a filter. Three conditions are not in the expression: metadata, which is compared as data; the URL if edges may
 * match, which only have a public URL; and bindings, whose field the public service documents under two names.
 */
function selectionOf(filter: EndpointsFilter, fits: (metadata: unknown) => boolean): Selection {
  const { types, region, urlPattern, name } = filter;
  const exact = types && !types.includes("edge") && urlPattern !== undefined && literalText(urlPattern);
  const url = exact ? normalizeUrl(exact) : undefined;
  const conditions = [
    types && isOneOf("type", types.flatMap(namesOfType)),
    region !== undefined && isOneOf("region", [region]),
    name !== undefined && isOneOf("name", [name]),
    url !== undefined && isOneOf("url", urlSpellings(url)),
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
export function matcher(conditions: Conditions): (live: Endpoint) => boolean {
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
export function metadataOf({ metadata }: Pick<Endpoint, "metadata">): unknown {
  return metadata === undefined ? undefined : metadataFromText(metadata).data;
}

function metadataFits(live: unknown, wanted: EndpointsFilter["metadata"]): boolean {
  if (wanted === undefined) return true;
  return (
    live !== undefined && sameData(live, typeof wanted === "string" ? metadataFromText(wanted).data : wanted)
  );
}
