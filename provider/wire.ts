import { z } from "zod";
import { type Mark, withoutMark } from "./mark";
import { type Endpoint, endpointFields, type JsonObject } from "./schema";

/* What travels: the contract's names and shapes, and the one way from them to the package's own. */

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

/** An endpoint with whatever else the service said of it, and the mark that was in its metadata. */
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

/** What the service says of a failure; every part may be missing. */
export const errorFromWire = z.looseObject({
  error_code: text,
  msg: text,
  details: z.looseObject({ operation_id: text }).optional().catch(undefined),
});
