import { z } from "zod";
import type { JsonObject } from "./json";
import { type Mark, withoutMark } from "./mark";

/*
 * The contract's names and shapes, and the one conversion from them to the package's own. The comment on a field is its
 * documentation: editors show it through the types, and the reference pages are generated from it.
 */

/** A reference to another object of the service. `uri` can be empty or missing. */
export const refSchema = z.looseObject({
  /** The object's identifier. */
  id: z.string(),
  /** The object's URI in the API. */
  uri: z.string().optional(),
});

/**
 * An endpoint as the service describes it, with the names of this package; the API uses snake_case. Fields that do not
 * apply to an endpoint's type are missing.
 */
export const endpointFields = {
  /** The endpoint's identifier, `ep_…`. */
  id: z.string().min(1),
  /** The endpoint's region. */
  region: z.string().optional(),
  /** Creation time, RFC 3339. */
  createdAt: z.string().optional(),
  /** Time of the last change, RFC 3339. */
  updatedAt: z.string().optional(),
  /** The URL without its port. The public service recommends `url` instead. */
  publicUrl: z.string().optional(),
  /** The protocol served: `http`, `https`, `tcp` or `tls`. */
  proto: z.string().optional(),
  /** The URL's scheme, if the service returns it. */
  scheme: z.string().optional(),
  /** `hostname:port`, always with the port. The service plans to deprecate it. */
  hostport: z.string().optional(),
  /** The URL's host, if the service returns it. */
  host: z.string().optional(),
  /** The URL's port, if the service returns it. */
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
  /** The edge that serves an edge endpoint. For a cloud endpoint, the public service returns it only in a read by id. */
  edge: refSchema.optional(),
  /** The local address to which an agent's tunnel forwards. */
  upstreamUrl: z.string().optional(),
  /** The protocol with which the agent forwards. Servers name it `upstream_proto` or `upstream_protocol`. */
  upstreamProto: z.string().optional(),
  /** The endpoint's URL. Edge endpoints have only `publicUrl`. */
  url: z.string().optional(),
  /** The bot or user that owns the endpoint, `usr_…` for a user. */
  principal: refSchema.optional(),
  /** The owner in an older form, which the service plans to deprecate. Servers return a reference or the bare id. */
  principalId: z.union([refSchema, z.string().transform((id) => ({ id }))]).optional(),
  /** The traffic policy, as text. */
  trafficPolicy: z.string().optional(),
  /** Where the endpoint can be reached from. */
  bindings: z.array(z.string()).optional(),
  /** Whether endpoints may share the URL. */
  poolingEnabled: z.boolean().optional(),
  /** The session of the agent that serves an ephemeral endpoint, `ts_…`. */
  tunnelSession: refSchema.optional(),
  /** The endpoint's URI in the API. On the public service, only cloud endpoints have one. */
  uri: z.string().optional(),
  /** The name that an agent gave the endpoint. */
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

/** An endpoint of any type as the service describes it. */
export type Endpoint = z.output<z.ZodObject<typeof endpointFields>>;
export type Ref = z.output<typeof refSchema>;

type Snake<S extends string> = S extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${Snake<Tail>}`
  : S;

/** An endpoint as it travels: the contract's names, fields that do not apply left out. */
export type WireEndpoint = {
  [K in keyof Endpoint as Snake<K>]: Endpoint[K];
};

/** What a create sends, and (without `type`) an update. */
export interface WireChange {
  type?: string;
  url?: string;
  traffic_policy?: string;
  description?: string;
  metadata?: string;
  bindings?: string[];
  pooling_enabled?: boolean;
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);

/** What an identifier can be; the service's are `ep_` and letters and digits. */
export const ID = /^[\w-]{1,200}$/;

/** The one field that every endpoint must have. */
export const idSchema = z.object({ id: z.string().regex(ID) });

/** Made once: a schema compiles itself when it is first used, which takes longer than reading an endpoint. */
const fields = z.looseObject(endpointFields);
const fieldNames = new Map(Object.keys(endpointFields).map((name) => [snakeCase(name), name]));

/** An endpoint with whatever else the reply held, and the mark that was in its metadata. */
export type LiveEndpoint = Endpoint & JsonObject & { createdFor?: Mark };

/**
 * From the wire to fields, the one way that create, read, update and list all take. Unknown fields are kept under
 * their own names; `null` means the same as a missing field. A mark is taken out of the metadata.
 */
export const endpointFromWire = idSchema.loose().transform((wire, context) => {
  const given = Object.entries(wire).filter(([, value]) => value !== null);
  const named = Object.fromEntries(given.map(([name, value]) => [fieldNames.get(name) ?? name, value]));
  if (!("upstreamProto" in named) && "upstream_protocol" in named)
    named["upstreamProto"] = named["upstream_protocol"];
  const parsed = fields.safeParse(named);
  if (parsed.success) {
    const { metadata, createdFor: _, ...rest } = parsed.data;
    const { metadata: own, mark } = withoutMark(metadata);
    return {
      ...rest,
      ...(own !== undefined && { metadata: own }),
      ...(mark && { createdFor: mark }),
    } as LiveEndpoint;
  }
  for (const issue of parsed.error.issues) {
    context.issues.push({ code: "custom", message: issue.message, path: issue.path, input: wire });
  }
  return z.NEVER;
});

/** A list as it travels. Its items are parsed one by one, so that a bad one never spoils the list. */
export const listFromWire = z.looseObject({
  endpoints: z.array(z.unknown()),
  next_page_uri: z.string().nullish(),
});

/** One part of another kind does not hide the others. */
const text = z.string().optional().catch(undefined);

/** How the service describes a failure; every part may be missing. */
export const errorFromWire = z.looseObject({
  error_code: text,
  msg: text,
  details: z.looseObject({ operation_id: text }).optional().catch(undefined),
});
