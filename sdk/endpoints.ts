import * as pulumi from "@pulumi/pulumi";
import { isGone } from "../provider/api/errors";
import type { LiveEndpoint } from "../provider/api/items";
import { metadataFromText, sameData } from "../provider/document";
import { normalizeUrl, urlProblem } from "../provider/url";
import { UserError } from "../provider/userError";
import type { AnyEndpoint } from "./endpointTypes";
import { thisAccount } from "./listing";
import { programError } from "./programError";

/** Which endpoint to read: exactly one of the two. */
export interface GetEndpointArgs {
  /** The endpoint's identifier, `ep_…`. One request. */
  id?: string;
  /**
   * The endpoint's URL, in any spelling. An endpoint without `url` (an edge) is matched by its `publicUrl`. The service
   * has no such query, so the list is read: one request for each 100 endpoints of the account.
   */
  url?: string;
}

/** Which endpoints to read: those that satisfy all filters given. Without any, all. */
export interface GetEndpointsArgs {
  /** Of one of these types: `ephemeral`, `edge`, `cloud`. */
  types?: (AnyEndpoint["type"] | (string & {}))[];
  /** In this region. */
  region?: string;
  /**
   * With a URL of this form, in which `*` stands for any text: `https://*.example.com`. Letter case does not matter. An
   * endpoint without `url` (an edge) is matched by its `publicUrl`.
   */
  urlPattern?: string;
  /** With this name, as an agent gives it. */
  name?: string;
  /** Reachable from here: `public`, `internal`, `kubernetes`. */
  binding?: string;
  /**
   * With metadata equal to this, compared as data where both are. A function is handed the metadata (undefined where
   * there is none) and says whether it fits; only `getEndpoints` takes one, not its Output form.
   */
  metadata?: string | object | ((metadata: unknown) => boolean);
}

export interface GetEndpointsResult {
  /** Newest first. */
  endpoints: AnyEndpoint[];
  /** Their identifiers, in the same order. */
  ids: string[];
}

/**
 * Reads one endpoint of any type, by id or by URL, as the program runs, in a preview too. `options` are accepted as
 * Pulumi's own data sources have them; the account is always the one of the stack's configuration.
 *
 * @throws RunError where there is none, where the URL is that of several (a pool), and for every failure of the
 * service; the message says what was looked for and what to do.
 */
export function getEndpoint(args: GetEndpointArgs, _options?: pulumi.InvokeOptions): Promise<AnyEndpoint> {
  return plainly(() => find(args, false));
}

/**
 * `getEndpoint` for inputs that are known only later, and after the resources of `dependsOn`. Unknown inputs, and a
 * resource that is still to be created, give an unknown result in a preview. A result of secret inputs is secret.
 */
export function getEndpointOutput(
  args: { [K in keyof GetEndpointArgs]: pulumi.Input<GetEndpointArgs[K]> },
  options?: pulumi.InvokeOutputOptions,
): pulumi.Output<AnyEndpoint> {
  const given = pulumi.output(args);
  const known = pulumi.all([given, there(given, options?.dependsOn)]);
  return known.apply(([args]) => plainly(() => find(args, true)));
}

/**
 * Reads all endpoints of the account that satisfy the filters, as the program runs, in a preview too. Calls that overlap
 * share one reading of the list: one request for each 100 endpoints, whatever the filters. An endpoint that this program
 * created before the call is in the result.
 *
 * @throws RunError for every failure of the service. An item of the list that cannot be read is left out, with a warning.
 */
export function getEndpoints(
  args: GetEndpointsArgs = {},
  _options?: pulumi.InvokeOptions,
): Promise<GetEndpointsResult> {
  return plainly(() => filter(args, false));
}

/** `getEndpoints` for inputs that are known only later, and after the resources of `dependsOn`; as `getEndpointOutput`. */
export function getEndpointsOutput(
  args: {
    [K in keyof GetEndpointsArgs]: pulumi.Input<Exclude<GetEndpointsArgs[K], (metadata: unknown) => boolean>>;
  } = {},
  options?: pulumi.InvokeOutputOptions,
): pulumi.Output<GetEndpointsResult> {
  const given = pulumi.output(args);
  const known = pulumi.all([given, there(given, options?.dependsOn)]);
  return known.apply(([args]) => plainly(() => filter(args, true)));
}

async function find({ id, url }: GetEndpointArgs, fresh: boolean): Promise<AnyEndpoint> {
  if ((id === undefined) === (url === undefined))
    throw programError("getEndpoint takes an id or a url, one of the two");
  return id !== undefined ? byId(id) : byUrl(url ?? "", fresh);
}

async function byId(id: string): Promise<AnyEndpoint> {
  try {
    return typed(await thisAccount().api.get(id));
  } catch (error) {
    // A 404 without the service's code may be a proxy's, and says nothing of the endpoint.
    if (!isGone(error) || error.code === undefined) throw error;
    throw programError(`there is no endpoint ${id}; getEndpoints() lists those of the account`);
  }
}

async function byUrl(url: string, fresh: boolean): Promise<AnyEndpoint> {
  const wanted = normalizeUrl(url);
  if (wanted === undefined) throw programError(`getEndpoint: url ${urlProblem(url)}`);
  const all = await thisAccount().list(fresh);
  const found = all.filter((endpoint) => urlOf(endpoint) === wanted);
  const [first] = found;
  if (first && found.length === 1) return typed(first);
  if (first) {
    const ids = found.map(({ id, type }) => `${id} (${type})`).join(", ");
    throw programError(
      `${found.length} endpoints serve ${wanted}: ${ids}. Give the id of the one to read, or take them all with getEndpoints({ urlPattern: "${wanted}" })`,
    );
  }
  const near = all.map(urlOf).filter((other) => other !== undefined && isNear(other, wanted));
  const came = near.length > 0 ? ` Near it: ${[...new Set(near)].slice(0, 3).join(", ")}.` : "";
  throw programError(
    `no endpoint of the ${all.length} of this account serves ${wanted}.${came} getEndpoints() lists them all`,
  );
}

async function filter(args: GetEndpointsArgs, fresh: boolean): Promise<GetEndpointsResult> {
  const { types, region, urlPattern, name, binding, metadata } = args;
  const pattern = urlPattern === undefined ? undefined : wildcard(urlPattern);
  const fits = (endpoint: LiveEndpoint) =>
    (types === undefined || types.includes(endpoint.type ?? "")) &&
    (region === undefined || endpoint.region === region) &&
    (pattern === undefined || pattern.test(urlOf(endpoint) ?? "")) &&
    (name === undefined || endpoint.name === name) &&
    (binding === undefined || endpoint.bindings?.includes(binding) === true) &&
    (metadata === undefined || metadataFits(endpoint.metadata, metadata));
  const endpoints = (await thisAccount().list(fresh)).filter(fits).map(typed);
  return { endpoints, ids: endpoints.map(({ id }) => id) };
}

function metadataFits(text: string | undefined, wanted: NonNullable<GetEndpointsArgs["metadata"]>): boolean {
  const live = text === undefined ? undefined : metadataFromText(text).data;
  if (typeof wanted === "function") return (wanted as (metadata: unknown) => boolean)(live);
  return (
    live !== undefined && sameData(live, typeof wanted === "string" ? metadataFromText(wanted).data : wanted)
  );
}

/** The URL that an endpoint is known by, in the one spelling; edges have a public URL alone. */
function urlOf({ url, publicUrl }: LiveEndpoint): string | undefined {
  const given = url ?? publicUrl;
  return given === undefined ? undefined : (normalizeUrl(given) ?? given);
}

/** The same host under another scheme or port, or another name beside it. */
function isNear(url: string, wanted: string): boolean {
  const host = (text: string) => text.replace(/^\w+:\/\//, "").replace(/:\d+$/, "");
  const [mine, other] = [host(wanted), host(url)];
  const domain = mine.split(".").slice(1).join(".");
  return mine === other || (domain.includes(".") && other.endsWith(`.${domain}`)) || other === domain;
}

function wildcard(pattern: string): RegExp {
  const parts = pattern.toLowerCase().replace(/\/$/, "").split("*");
  return new RegExp(`^${parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`);
}

/** What the wire's schema has parsed already, under the names of its type. */
function typed(endpoint: LiveEndpoint): AnyEndpoint {
  return endpoint as unknown as AnyEndpoint;
}

/**
 * Known once the resources are there that the arguments come from, and those of `dependsOn`. As in Pulumi's own data
 * sources it is unknown in a preview that would create one of them: the service does not have it yet, even where its
 * inputs are known.
 */
function there(args: object, dependsOn: pulumi.InvokeOutputOptions["dependsOn"]): pulumi.Output<string[]> {
  return pulumi
    .all([pulumi.output(dependsOn ?? []), pulumi.output(sourcesOf(args))])
    .apply((resources) =>
      pulumi.all(resources.flat().flatMap((resource) => idsOf(resource as pulumi.Resource))),
    );
}

/** The resources that an output comes from. Pulumi keeps them on it, and does not declare so. */
async function sourcesOf(output: object): Promise<pulumi.Resource[]> {
  if (!("allResources" in output) || typeof output.allResources !== "function") return [];
  return [...((await output.allResources()) as Iterable<pulumi.Resource>)];
}

/** What is known when a resource is there: its id, and for a component those of its children. */
function idsOf(resource: pulumi.Resource): pulumi.Output<string>[] {
  const children = "__childResources" in resource ? resource.__childResources : undefined;
  const inside = children instanceof Set ? [...children].flatMap(idsOf) : [];
  return [pulumi.CustomResource.isInstance(resource) ? resource.id : resource.urn, ...inside];
}

/** Pulumi prints the stack of any error of a program but its own kind, at length; ours say all in their message. */
async function plainly<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof UserError ? programError(error.message, error) : error;
  }
}
