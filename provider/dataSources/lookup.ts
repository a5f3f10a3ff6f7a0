import { normalizeUrl, oneLine, urlProblem } from "../../sdk/traffic-policy/index";
import { metadataFromText, sameData } from "../endpoint/documents";
import { endpointNotFound } from "../endpoint/errors";
import { ifAbsent } from "../endpoint/live";
import { UserError } from "../service/apiErrors";
import type { EndpointQuery, EndpointsFilter, LiveEndpoint } from "../service/contract";
import type { EndpointsApi } from "../service/endpoints";
import { type Age, EVERYTHING, isOneOf, ofUrl, type Selection } from "../service/list";
import { spellings, urlOf } from "../service/url";
import { exactText, urlMatcher } from "./textPatterns";

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
