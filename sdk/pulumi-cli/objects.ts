import type * as rpc from "@pulumi/pulumi/runtime/rpc";

/** The key of an object's signature in Pulumi's protocol. Pulumi's SDK has it, too, but takes four times as long to load as a command. */
export const specialSigKey: typeof rpc.specialSigKey = "4dabf18193072939515e22adb298388d";

/** Whether this is a plain object. Objects of another realm count, too. */
export function isObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype.constructor?.name === "Object";
}

/** Whether the value is a plain object, without a signature. */
export function isProps(value: unknown): value is Record<string, unknown> {
  return isObject(value) && value[specialSigKey] === undefined;
}
