import { z } from "zod";
import { isMapping, metadataFromText, policyFromText, problemsOfData, wireText } from "./document";
import type { Parsed } from "./json";
import { normalizeUrl, urlProblem } from "./url";

/*
 * Every field of the package, once. The comment on a field is its documentation: editors show it through the
 * types inferred below, and the reference pages are generated from it. The schema on a field is its check.
 */

/** A policy, or metadata, as data. */
export type JsonObject = { [key: string]: unknown };

/** Most characters that the service takes in a description (documented with its error 18012). */
export const MAX_DESCRIPTION = 255;

/** Most characters that the service takes in metadata (documented with its error 18013). */
export const MAX_METADATA = 4096;

const text = z.string({ error: (issue) => `must be text, not ${kindOf(issue.input)}` });
const flag = z.boolean({ error: (issue) => `must be true or false, not ${kindOf(issue.input)}` });

/** Data or text: what policies and metadata are written as. */
function document(isData: (value: unknown) => boolean) {
  return z.custom<object | string>((value) => typeof value === "string" || isData(value), {
    error: (issue) => `must be an object or text, not ${kindOf(issue.input)}`,
  });
}

/** What a program gives to a cloud endpoint. Each schema turns what was written into the form that the state holds. */
export const inputFields = {
  /**
   * The address that the endpoint serves: `https`, `http`, `tls` or `tcp`, a host and, where it is not the scheme's
   * own, a port: `https://shop.example.com`, `tcp://1.tcp.example.com:12345`, `https://*.example.com`.
   * Letter case, a default port and a trailing slash do not matter. No path, query or credentials.
   * Another URL with the same scheme is an update in place; another scheme replaces the endpoint.
   */
  url: text
    .check((context) => refuse(context, urlProblem(context.value)))
    .transform((url) => normalizeUrl(url) ?? url),

  /**
   * What happens to traffic: an object, or text holding JSON or YAML. Compared as data, so key order, spaces and
   * YAML comments are never a change; the order of a list is. The contract leaves it optional; the public service
   * demands one that ends in an action that answers. Once given it can be changed, not taken out.
   */
  trafficPolicy: document(isMapping)
    .transform((policy, context): JsonObject => asData(policy, policyFromText, context) as JsonObject)
    .optional(),

  /** A text for people, at most 255 characters. Taken out of the program, it is cleared on the service. Default: none. */
  description: text.check((context) => refuse(context, tooLong(context.value, MAX_DESCRIPTION))).optional(),

  /**
   * Data of your own, an object or text, at most 4,096 characters as compact JSON. Text that holds a JSON object or
   * list is kept as data, other text as it is. Taken out of the program, it is cleared on the service. Default: none.
   */
  metadata: document((value) => isMapping(value) || Array.isArray(value))
    .transform(
      (metadata, context) => asData(metadata, metadataFromText, context) as JsonObject | unknown[] | string,
    )
    .check((context) => refuse(context, tooLong(wireText(context.value), MAX_METADATA)))
    .optional(),

  /**
   * Where the endpoint can be reached from: `public`, `internal` or `kubernetes` on the public service. Order never
   * matters. Default: the service decides, from the URL. A hand edit of its choice is drift. Taken out of the program, it
   * is the service's again, which keeps what is there.
   */
  bindings: z
    .array(text.min(1, "must not hold an empty name"), {
      error: (issue) => `must be a list of names, not ${kindOf(issue.input)}`,
    })
    .min(1, "must name at least one binding; leave bindings out to let the service decide")
    .check((context) => refuse(context, repeated(context.value)))
    .optional(),

  /**
   * Whether other endpoints may share this URL and its traffic. Sent only when given, or to undo a hand edit. Default: the
   * service's, `false`.
   */
  poolingEnabled: flag.optional(),

  /**
   * Take over an endpoint that is there already, instead of creating one: `true` for the cloud endpoint with this
   * URL, or its id (`ep_…`). Only what differs is changed. Has no effect after the first `up`, and can be taken out.
   * Default: `false`; nothing is ever taken over unasked.
   */
  adopt: z
    .union([z.boolean(), z.string().regex(/^ep_\w+$/, "must be true, or an endpoint's id (ep_…)")], {
      error: "must be true, or an endpoint's id (ep_…)",
    })
    .optional(),
};

/** A reference to another object of the service. `uri` may be an empty string or missing. */
export const refSchema = z.looseObject({
  /** The object's identifier. */
  id: z.string(),
  /** Where the service keeps the object. */
  uri: z.string().optional(),
});

/**
 * What the service says of an endpoint, named as in this package; on the wire the names are in snake_case. A field
 * that does not apply to an endpoint's type is missing.
 */
export const endpointFields = {
  /** The endpoint's identifier, `ep_…`. */
  id: z.string().min(1),
  /** Identifier of the region that the endpoint belongs to. */
  region: z.string().optional(),
  /** When the endpoint was created, RFC 3339. */
  createdAt: z.string().optional(),
  /** When the endpoint was last changed, RFC 3339. */
  updatedAt: z.string().optional(),
  /** The URL without its port. The public service prefers `url`. */
  publicUrl: z.string().optional(),
  /** The protocol served: `http`, `https`, `tcp` or `tls`. */
  proto: z.string().optional(),
  /** The URL's scheme, where the service gives it. */
  scheme: z.string().optional(),
  /** `hostname:port`, always with the port. The service marks it as soon to be deprecated. */
  hostport: z.string().optional(),
  /** The URL's host, where the service gives it. */
  host: z.string().optional(),
  /** The URL's port, where the service gives it. */
  port: z.int().optional(),
  /** `ephemeral` (an agent's tunnel), `edge` or `cloud`. */
  type: z.string().optional(),
  /** The user's own data, as text. */
  metadata: z.string().optional(),
  /** The user's description. */
  description: z.string().optional(),
  /** The reserved domain, `rd_…`. */
  domain: refSchema.optional(),
  /** The reserved TCP address. */
  tcpAddr: refSchema.optional(),
  /** The tunnel that serves an ephemeral endpoint, `tn_…`. */
  tunnel: refSchema.optional(),
  /** The edge that serves an edge endpoint. The public service shows it for a cloud endpoint only when read by id. */
  edge: refSchema.optional(),
  /** The local address that an agent's tunnel forwards to. */
  upstreamUrl: z.string().optional(),
  /** The protocol that the agent uses to forward. Servers call it `upstream_proto` or `upstream_protocol`. */
  upstreamProto: z.string().optional(),
  /** The endpoint's URL. Edge endpoints have none: see `publicUrl`. */
  url: z.string().optional(),
  /** The bot or user that owns the endpoint, `usr_…` for a user. */
  principal: refSchema.optional(),
  /** The owner, in the older form; marked for deprecation. Servers give a reference or the bare id. */
  principalId: z.union([refSchema, z.string().transform((id) => ({ id }))]).optional(),
  /** The traffic policy, as the service's own text. */
  trafficPolicy: z.string().optional(),
  /** Where the endpoint can be reached from. */
  bindings: z.array(z.string()).optional(),
  /** Whether endpoints may share the URL. */
  poolingEnabled: z.boolean().optional(),
  /** The agent's session that serves an ephemeral endpoint, `ts_…`. */
  tunnelSession: refSchema.optional(),
  /** Where the service keeps this endpoint. Only cloud endpoints have one on the public service. */
  uri: z.string().optional(),
  /** The agent's name for the endpoint. */
  name: z.string().optional(),
};

/** Fields that every cloud endpoint has (contract, rules of the endpoint's fields). */
export const alwaysPresent = [
  "type",
  "url",
  "publicUrl",
  "proto",
  "hostport",
  "uri",
  "bindings",
  "createdAt",
  "updatedAt",
] as const satisfies (keyof typeof endpointFields)[];

type Shape<T extends z.ZodRawShape> = z.ZodObject<T>;

/** What a program may write for a cloud endpoint. */
export type CloudEndpointWritten = z.input<Shape<typeof inputFields>>;
/** The same, checked: URL normalized, policy and metadata as data. This is what the state holds as inputs. */
export type CloudEndpointInputs = z.output<Shape<typeof inputFields>>;
/** An endpoint of any type as the service describes it. */
export type Endpoint = z.output<Shape<typeof endpointFields>>;
export type Ref = z.output<typeof refSchema>;

function kindOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function refuse(context: { issues: z.core.$ZodRawIssue[]; value: unknown }, reason: string | undefined) {
  if (reason) context.issues.push({ code: "custom", message: reason, input: context.value });
}

/** Parses text, and reports everything that could not travel as JSON under its own path. */
function asData(value: object | string, parse: (text: string) => Parsed, context: z.RefinementCtx): unknown {
  const parsed: Parsed = typeof value === "string" ? parse(value) : { data: value };
  const problems = "problem" in parsed ? [parsed.problem] : problemsOfData(parsed.data);
  for (const { path, reason } of problems) {
    context.issues.push({ code: "custom", message: reason, path: [path], input: undefined });
  }
  return "data" in parsed ? parsed.data : z.NEVER;
}

function tooLong(value: string, most: number): string | undefined {
  const length = [...value].length;
  return length > most ? `holds at most ${most} characters; this one has ${length}` : undefined;
}

function repeated(names: string[]): string | undefined {
  const seen = new Set<string>();
  const twice = names.findIndex((name) => seen.has(name) || !seen.add(name));
  return twice === -1 ? undefined : `names one twice, at [${twice}]; give each binding once`;
}
