import * as pulumi from "@pulumi/pulumi";
import { policyFromText } from "../provider/data/index";
import { openAccount } from "../provider/dataSources/account";
import {
  argumentsIn,
  filterArguments,
  queryArguments,
  typeWarnings,
} from "../provider/dataSources/dataSourceArguments";
import { findEndpoint, findEndpoints, metadataOf } from "../provider/dataSources/lookup";
import { MASKED } from "../provider/endpoint/secretSearch";
import type { Endpoint, EndpointQuery, EndpointsFilter } from "../provider/service/contract";
import { plainData } from "./plainData";
import { isMocked, perRun, programError, type WithInputs, withProgramErrors } from "./programRun";
import { explicitProvider } from "./provider";

/*
 * The results of the data sources: one TypeScript type for each type of endpoint, distinguished by `type`. The required fields
 * of a type come from the contract and from the public service's documented examples. All other fields are optional.
 */

/** An endpoint with these required fields, because every endpoint of its type has them. All other fields are optional. */
type EndpointWith<K extends keyof Endpoint> = Omit<Endpoint, K | "type"> & {
  [P in K]-?: NonNullable<Endpoint[P]>;
};

/** An endpoint that an agent opened. Its tunnel serves it while the agent runs. */
export interface EphemeralEndpoint extends EndpointWith<"id" | "publicUrl" | "proto"> {
  type: "ephemeral";
}

/** An endpoint that an edge serves. It has no `url`: use `publicUrl`. */
export interface EdgeEndpoint extends EndpointWith<"id" | "publicUrl" | "proto"> {
  type: "edge";
}

/** A cloud endpoint, which the service itself serves. `CloudEndpoint` manages only this type. */
export interface CloudEndpointInfo
  extends EndpointWith<
    "id" | "url" | "publicUrl" | "proto" | "hostport" | "uri" | "bindings" | "createdAt" | "updatedAt"
  > {
  type: "cloud";
}

/**
 * An endpoint of any type; `endpoint.type === "cloud"` narrows it. Types and fields that the contract does not name are
 * kept unchanged.
 */
export type AnyEndpoint = EphemeralEndpoint | EdgeEndpoint | CloudEndpointInfo;

type QueryBy<K extends keyof EndpointQuery> = { [P in K]-?: NonNullable<EndpointQuery[P]> };

/** The endpoint to read: by id or by URL, exactly one of the two. */
export type GetEndpointArgs = (QueryBy<"id"> & { url?: undefined }) | (QueryBy<"url"> & { id?: undefined });

/** Filters for endpoints. All given filters must match; without a filter, all endpoints match. */
export interface GetEndpointsArgs extends Omit<EndpointsFilter, "types" | "metadata"> {
  /** Only endpoints of these types: `ephemeral`, `edge`, `cloud`. */
  types?: (AnyEndpoint["type"] | (string & {}))[];
  /**
   * Only endpoints with metadata equal to this. If both are JSON, they are compared as data. A function receives the metadata
   * (undefined if there is none) and returns whether it matches; only `getEndpoints` takes a function, not its Output form.
   */
  metadata?: EndpointsFilter["metadata"] | ((metadata: unknown) => boolean);
}

export interface GetEndpointsResult {
  /** The matching endpoints, newest first. */
  endpoints: AnyEndpoint[];
  /** The identifiers of the matching endpoints, newest first. */
  ids: string[];
}

/**
 * Reads one endpoint of any type, by id or by URL, while the program runs, in a preview too. It uses the account of
 * `options.provider` if given, otherwise the one of the stack's configuration.
 *
 * @throws RunError if no endpoint matches, if several have the URL (a pool), and for every failure of the service. The
 * message names the endpoint and the next step.
 */
export function getEndpoint(args: GetEndpointArgs, options?: pulumi.InvokeOptions): Promise<AnyEndpoint> {
  return withProgramErrors(() => find(args, { freshness: "recent" }, options));
}

/**
 * `getEndpoint` for inputs that are known later, and with the option `dependsOn`. During a preview, the result is unknown
 * while an input is unknown or a resource that it depends on does not exist yet. If an input is secret, so is the result.
 */
export function getEndpointOutput(
  args: WithInputs<GetEndpointArgs>,
  options?: pulumi.InvokeOutputOptions,
): pulumi.Output<AnyEndpoint> {
  return whenReady(args, options, (known, isSecret) =>
    find(known as GetEndpointArgs, { freshness: "fresh", display: isSecret ? MASKED : undefined }, options),
  );
}

/**
 * Reads all endpoints of the account that match the filters, while the program runs, in a preview too. One request brings 100
 * endpoints: of those that match, if the service filters lists, otherwise of the whole account. Concurrent calls share these
 * requests. The result contains the endpoints that this program created before the call.
 *
 * @throws RunError for every failure of the service. An item of the list that cannot be read causes a warning and is omitted.
 */
export function getEndpoints(
  args: GetEndpointsArgs = {},
  options?: pulumi.InvokeOptions,
): Promise<GetEndpointsResult> {
  return withProgramErrors(() => filter(args, "recent", options));
}

/** `getEndpoints` for inputs that are known later, and with the option `dependsOn`, like `getEndpointOutput`. */
export function getEndpointsOutput(
  args: WithInputs<Omit<GetEndpointsArgs, "metadata"> & Pick<EndpointsFilter, "metadata">> = {},
  options?: pulumi.InvokeOutputOptions,
): pulumi.Output<GetEndpointsResult> {
  const plain = args.metadata === undefined ? args : { ...args, metadata: plainData(args.metadata) };
  return whenReady(plain, options, (known) => filter(known as GetEndpointsArgs, "fresh", options));
}

async function find(
  given: GetEndpointArgs,
  reading: Parameters<typeof findEndpoint>[2],
  options?: pulumi.InvokeOptions,
): Promise<AnyEndpoint> {
  const args = argumentsIn("getEndpoint", queryArguments, given);
  if (engineAnswers(options))
    return (await callEngine("endpoints:index:getEndpoint", args, options)) as AnyEndpoint;
  return typed(await findEndpoint(thisAccount(), args, reading));
}

async function filter(
  { metadata, ...args }: GetEndpointsArgs,
  freshness: Parameters<typeof findEndpoints>[2],
  options?: pulumi.InvokeOptions,
): Promise<GetEndpointsResult> {
  const predicate = typeof metadata === "function" ? (metadata as (metadata: unknown) => boolean) : undefined;
  const filters = argumentsIn(
    "getEndpoints",
    filterArguments,
    predicate || metadata === undefined ? args : { ...args, metadata: plainData(metadata) },
  );
  if (!engineAnswers(options)) {
    for (const warning of typeWarnings(filters)) void pulumi.log.warn(warning);
    return result((await findEndpoints(thisAccount(), filters, freshness, predicate)).map(typed));
  }
  // A program's own mocks may answer without a list.
  const { endpoints = [] } = (await callEngine(
    "endpoints:index:getEndpoints",
    filters,
    options,
  )) as Partial<GetEndpointsResult>;
  return result(predicate ? endpoints.filter((endpoint) => predicate(metadataOf(endpoint))) : endpoints);
}

const result = (endpoints: AnyEndpoint[]): GetEndpointsResult => ({
  endpoints,
  ids: endpoints.map(({ id }) => id),
});

/** Whether the engine answers: for an explicit provider, whose account only the plugin has, and in a unit test with mocks. */
const engineAnswers = (options?: pulumi.InvokeOptions): boolean =>
  isMocked() || explicitProvider(options) !== undefined;

async function callEngine(name: string, args: object, options: pulumi.InvokeOptions = {}): Promise<unknown> {
  const provider = explicitProvider(options);
  let answer: object | undefined;
  try {
    answer = await pulumi.runtime.invoke(name, args as pulumi.Inputs, {
      ...options,
      ...(provider && { provider }),
    });
  } catch (error) {
    throw error instanceof Error ? programError(error.message, error) : error;
  }
  // For a provider whose settings are unknown, the engine returns an empty answer, and does not call the provider.
  if (answer && (isMocked() || Object.keys(answer).length > 0)) return answer;
  throw programError(
    "the settings of the data source's provider are not known yet; use getEndpointOutput or getEndpointsOutput, which wait for them",
  );
}

type Account = ReturnType<typeof openAccount>;

/** The client of the stack's account, which the first data source creates. Each run has its own, and reads its lists anew. */
const accountOfRun = perRun((): { api?: Account } => ({}));

/** @throws ConfigError if a setting is missing. */
function thisAccount(): Account {
  const run = accountOfRun();
  run.api ??= openAccount((key) => pulumi.runtime.getConfig(key), {
    info: (message) => void pulumi.log.info(message),
    warn: (message) => void pulumi.log.warn(message),
  });
  return run.api;
}

/** Marks all listings as outdated, because this program has just created an endpoint. */
export function invalidateListings(): void {
  accountOfRun().api?.list.invalidate();
}

/** Changes only the type. The schema of replies has already checked the endpoint. */
function typed(endpoint: Endpoint): AnyEndpoint {
  return endpoint as unknown as AnyEndpoint;
}

/**
 * Runs the work when the arguments and the settings of an explicit provider are known, and when these resources exist: those that
 * the arguments come from, and those of `dependsOn`. As in Pulumi's own data sources, the result is unknown in a preview that
 * would create such a resource, because the service does not have it yet.
 */
function whenReady<T>(
  args: object,
  options: pulumi.InvokeOutputOptions | undefined,
  work: (args: object, isSecret: boolean) => Promise<T>,
): pulumi.Output<T> {
  const given = pulumi.output(args);
  const dependsOn = pulumi.output(options?.dependsOn ?? []);
  const sources = pulumi.output(resourcesBehind(given));
  const exist = pulumi
    .all([dependsOn, sources, explicitProvider(options)?.settled])
    .apply(([first, second]) =>
      pulumi.all([first, second].flat().flatMap((one) => idsOf(one as pulumi.Resource))),
    );
  const ready = pulumi
    .all([given, pulumi.isSecret(given), exist])
    .apply(([known, isSecret]) => withProgramErrors(() => work(known as object, isSecret)));
  return ready as pulumi.Output<T>;
}

/** The resources that an output comes from. Pulumi stores them there, but does not declare them. */
async function resourcesBehind(output: object): Promise<pulumi.Resource[]> {
  if (!("allResources" in output) || typeof output.allResources !== "function") return [];
  return [...((await output.allResources()) as Iterable<pulumi.Resource>)];
}

/** Outputs that are known when the resource exists: its id, or a component's URN and the ids of its children. */
function idsOf(resource: pulumi.Resource): pulumi.Output<string>[] {
  const children = "__childResources" in resource ? resource.__childResources : undefined;
  const inside = children instanceof Set ? [...children].flatMap(idsOf) : [];
  return [pulumi.CustomResource.isInstance(resource) ? resource.id : resource.urn, ...inside];
}

/** A value in JSON. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/**
 * Parses an endpoint's `metadata` or `trafficPolicy`, which the service returns as text. A policy can be YAML too.
 *
 * @param parse Converts the value to your own type, or throws: for example, the `parse` of a zod schema.
 * @returns Undefined for an endpoint without that field.
 * @throws Error for text that contains no data. The message does not quote the text, because it may contain a secret.
 */
export function readJson(text: string | undefined): JsonValue | undefined;
export function readJson<T>(text: string | undefined, parse: (value: unknown) => T): T | undefined;
export function readJson(
  text: string | undefined,
  parse: (value: unknown) => unknown = (value) => value,
): unknown {
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const parsed = policyFromText(text);
    if ("problem" in parsed) throw new Error(`this text ${parsed.problem}`);
    value = parsed.data;
  }
  return parse(value);
}
