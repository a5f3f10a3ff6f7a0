import type * as rpc from "@pulumi/pulumi/runtime/rpc";
import { isMapping, type JsonObject } from "../data/json";

/*
 * The texts and objects that have a special meaning in Pulumi's protocol. Pulumi's SDK has them, too, but takes four times as long to
 * load as a command. The types make the compiler compare them with the SDK's.
 */

/** The text for a value that is not known yet, in any field and at any depth. */
export const UNKNOWN: typeof rpc.unknownValue = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** The texts for unknown values, one for each type of value. A dynamic provider only receives the first. */
export const UNKNOWNS: ReadonlySet<unknown> = new Set([
  UNKNOWN,
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
  "030794c1-ac77-496b-92df-f27374a8bd58",
  "e48ece36-62e2-4504-bad9-02848725956a",
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
]);

/** The key that marks an object as special, and its values. */
export const SIGNATURE: typeof rpc.specialSigKey = "4dabf18193072939515e22adb298388d";
export const SECRET: typeof rpc.specialSecretSig = "1b47061264138c4ac30d75fd1eb44270";
export const REFERENCE: typeof rpc.specialResourceSig = "5cf8f73096256a8f31e491e813e4eb8e";
export const OUTPUT: typeof rpc.specialOutputValueSig = "d0e6a833031e9bbcd3f4e8bde6ca49a4";

/** A value that is marked as secret. */
export const asSecret = (value: unknown): { [key: string]: unknown } => ({ [SIGNATURE]: SECRET, value });

/** Whether any part of the value is unknown. Such a value passes every check, and is never compared. */
export function hasUnknown(value: unknown): boolean {
  // A set holds each part once, so the loop ends even for data that contains itself.
  const parts = new Set([value]);
  for (const part of parts) {
    if (part === UNKNOWN) return true;
    if (typeof part === "object" && part !== null)
      for (const inside of Object.values(part)) parts.add(inside);
  }
  return false;
}

/** Converts each property that has a value. */
export function mapProps(props: JsonObject, convert: (value: unknown, key: string) => unknown): JsonObject {
  const defined = Object.entries(props).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined.map(([key, value]) => [key, convert(value, key)]));
}

/**
 * Converts each object with a signature, and each text, number and truth value outside of them. Leaves out undefined values, or
 * makes them null in a list, as JSON does.
 */
export function mapSigned(
  value: unknown,
  signed: (object: JsonObject) => unknown,
  leaf: (value: unknown) => unknown = (value) => value,
): unknown {
  if (Array.isArray(value)) return value.map((item) => mapSigned(item ?? null, signed, leaf));
  if (!isMapping(value)) return leaf(value);
  if (value[SIGNATURE] !== undefined) return signed(value);
  return mapProps(value, (part) => mapSigned(part, signed, leaf));
}
