import { z } from "zod";
import type { Endpoint } from "./contract";

/* The schemas of replies, and the conversion from the contract's names to the package's. */

export const refSchema = z.looseObject({ id: z.string(), uri: z.string().optional() });

/** The contract's name of a field. */
export const snakeCase = (name: string) => name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);

/** The form of an identifier. The service's are `ep_` and letters and digits. */
export const ID = /^[\w-]{1,200}$/;

/** The only required field of an endpoint. */
const idSchema = z.object({ id: z.string().regex(ID) });

/** Converts an endpoint of the wire. */
export type EndpointParser = z.ZodType<Endpoint>;

/** The conversions of an endpoint of the wire. Unknown fields are left out. `null` is a field without a value, which is shown. */
export interface EndpointParsers {
  /** For read, update and list. An endpoint with a field that fails its check is unreadable. */
  strict: EndpointParser;
  /** For the reply to a create: the endpoint exists, so a field that fails its check counts as missing. */
  lenient: EndpointParser;
}

/**
 * @param checks The check of each field.
 * @param aliases Second names on the wire, with their fields.
 */
export function parsersOf(checks: z.ZodRawShape, aliases: readonly [string, string][]): EndpointParsers {
  // One object for all calls, because a schema compiles itself at its first use.
  const fields = z.object(checks);
  const fieldNames = new Map(Object.keys(checks).map((name) => [snakeCase(name), name]));
  const parserWith = ({ dropsInvalid }: { dropsInvalid: boolean }): EndpointParser =>
    idSchema.loose().transform((wire, context) => {
      const given = Object.entries(wire).map(([name, value]) => [
        fieldNames.get(name) ?? name,
        value ?? undefined,
      ]);
      const named = Object.fromEntries(given);
      for (const [alias, name] of aliases) if (alias in named) named[name] ??= named[alias];
      let parsed = fields.safeParse(named);
      if (!parsed.success && dropsInvalid) {
        for (const { path } of parsed.error.issues) delete named[String(path[0])];
        parsed = fields.safeParse(named);
      }
      if (parsed.success) return parsed.data as unknown as Endpoint;
      for (const issue of parsed.error.issues) {
        context.issues.push({ code: "custom", message: issue.message, path: issue.path, input: wire });
      }
      return z.NEVER;
    });
  return { strict: parserWith({ dropsInvalid: false }), lenient: parserWith({ dropsInvalid: true }) };
}

/** A page of the list. Its items are parsed one by one, so that a malformed one does not spoil the list. */
export const listPageSchema = z.looseObject({
  endpoints: z.array(z.unknown()),
  next_page_uri: z.string().nullish(),
});

/** A text that counts as missing if its type is wrong, so that it does not hide other parts. */
const optionalText = z.string().optional().catch(undefined);

/** What identifies an item of the list that cannot be read. */
export const identitySchema = z.object({ id: optionalText, url: optionalText }).catch({});

/** The body of a failure. Every part may be missing. */
export const errorSchema = z.looseObject({
  error_code: optionalText,
  msg: optionalText,
  details: z.looseObject({ operation_id: optionalText }).optional().catch(undefined),
});

/** The first reasons why a reply, or a part of it, does not match its schema. */
export const mistakesIn = ({ issues }: z.ZodError): string =>
  issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.join(".") || "it"}: ${message}`)
    .join("; ");
