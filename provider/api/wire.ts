import { z } from "zod";
import type { Endpoint, LiveEndpoint } from "./contract";
import { withoutMark } from "./mark";

/* The schemas of replies, and the conversion from the contract's names to the package's. */

export const refSchema = z.looseObject({ id: z.string(), uri: z.string().optional() });

/** The check of each field. */
export const endpointFields = {
  id: z.string().min(1),
  region: z.string().optional(),
  createdAt: z.string().optional(),
  updatedAt: z.string().optional(),
  publicUrl: z.string().optional(),
  proto: z.string().optional(),
  scheme: z.string().optional(),
  hostport: z.string().optional(),
  host: z.string().optional(),
  port: z.int().optional(),
  type: z.string().optional(),
  metadata: z.string().optional(),
  description: z.string().optional(),
  domain: refSchema.optional(),
  tcpAddr: refSchema.optional(),
  tunnel: refSchema.optional(),
  edge: refSchema.optional(),
  upstreamUrl: z.string().optional(),
  upstreamProto: z.string().optional(),
  url: z.string().optional(),
  principal: refSchema.optional(),
  principalId: z.union([refSchema, z.string().transform((id) => ({ id }))]).optional(),
  trafficPolicy: z.string().optional(),
  bindings: z.array(z.string()).optional(),
  poolingEnabled: z.boolean().optional(),
  tunnelSession: refSchema.optional(),
  uri: z.string().optional(),
  name: z.string().optional(),
} satisfies { [Name in keyof Endpoint]-?: z.ZodType<Endpoint[Name]> };

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);

/** The form of an identifier. The service's are `ep_` and letters and digits. */
export const ID = /^[\w-]{1,200}$/;

/** The only required field of an endpoint. */
export const idSchema = z.object({ id: z.string().regex(ID) });

/** One object for all calls, because a schema compiles itself at its first use. */
const fields = z.looseObject(endpointFields);
const fieldNames = new Map(Object.keys(endpointFields).map((name) => [snakeCase(name), name]));

/**
 * Converts an endpoint from the wire to fields, for create, read, update and list. Unknown fields keep their names, and `null`
 * counts as a missing field. The mark is removed from the metadata.
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

/** A page of the list. Its items are parsed one by one, so that a malformed one does not spoil the list. */
export const listFromWire = z.looseObject({
  endpoints: z.array(z.unknown()),
  next_page_uri: z.string().nullish(),
});

/** A part with a wrong type does not hide the others. */
const text = z.string().optional().catch(undefined);

/** The body of a failure. Every part may be missing. */
export const errorFromWire = z.looseObject({
  error_code: text,
  msg: text,
  details: z.looseObject({ operation_id: text }).optional().catch(undefined),
});
