import type * as rpc from "@pulumi/pulumi/runtime/rpc";
import { isObject, isProps, specialSigKey } from "../pulumi-cli/index";

/*
 * Properties of a resource, in the format of Pulumi's protocol: JSON in which an unknown value is a reserved text, and a secret
 * or a resource is an object with a signature. In comparisons, null equals a missing value.
 */
export type Props = Record<string, unknown>;

/*
 * The reserved texts of Pulumi's SDK. They are copied here, because the SDK takes four times as long to load as a command. Their
 * types make the compiler compare them with the SDK's.
 */

/** The text that stands for a value that is not known yet. */
export const unknownValue: typeof rpc.unknownValue = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
/** The signature of a secret. */
export const specialSecretSig: typeof rpc.specialSecretSig = "1b47061264138c4ac30d75fd1eb44270";

/** Converts each object with a signature. Leaves out undefined values, or makes them null in a list, as JSON does. */
export function mapSigned(value: unknown, signed: (object: Props) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => mapSigned(item ?? null, signed));
  if (!isObject(value)) return value;
  return value[specialSigKey] === undefined
    ? mapProps(value, (part) => mapSigned(part, signed))
    : signed(value);
}

/** A secret. Its value is never another secret. */
interface Secret {
  value: unknown;
}

export function isSecret(value: unknown): value is Secret {
  return isObject(value) && value[specialSigKey] === specialSecretSig;
}

export function secret(value: unknown): Props {
  return isSecret(value) ? { ...value } : { [specialSigKey]: specialSecretSig, value };
}

/** Properties from values, in which `{ secret: value }` stands for a secret. */
export const fromSecretForm = (values: Record<string, unknown>) =>
  mapProps(values, (value) =>
    isProps(value) && Object.keys(value).join() === "secret" ? secret(value["secret"]) : value,
  );

export function mapProps(props: Props, convert: (value: unknown, key: string) => unknown): Props {
  const defined = Object.entries(props).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined.map(([key, value]) => [key, convert(value, key)]));
}

/** Replaces secrets by their values, resources by their ids, and components by their URNs. */
export function plain(props: Props): Props {
  return mapProps(props, withoutSignatures);
}

function withoutSignatures(value: unknown): unknown {
  return mapSigned(value, (signed) => {
    if (isSecret(signed)) return withoutSignatures(signed.value);
    return "id" in signed ? signed["id"] || unknownValue : signed["urn"];
  });
}

/** Converts a value to the format of `pulumi stack export --show-secrets`, with sorted keys. */
function toState(value: unknown): unknown {
  if (isSecret(value))
    return { [specialSigKey]: specialSecretSig, plaintext: JSON.stringify(toState(value.value)) };
  if (Array.isArray(value)) return value.map(toState);
  return isObject(value) ? propsToState(value) : value;
}

export function propsToState(props: Props): Props {
  const entries = Object.entries(props).sort(([a], [b]) => (a < b ? -1 : 1));
  return mapProps(Object.fromEntries(entries), toState);
}

export function propsFromState(props: Props): Props {
  const fromState = (value: unknown): unknown =>
    mapSigned(value, (signed) => {
      if (signed[specialSigKey] !== specialSecretSig) return signed;
      if (typeof signed["plaintext"] === "string") return secret(fromState(JSON.parse(signed["plaintext"])));
      throw new Error("the state holds an encrypted secret: export it with --show-secrets");
    });
  return mapProps(props, fromState);
}

/** Whether the condition holds for a value or a part of it. */
function someIn(value: unknown, is: (part: unknown) => boolean): boolean {
  if (is(value)) return true;
  return typeof value === "object" && value !== null && Object.values(value).some((part) => someIn(part, is));
}

export const containsSecret = (value: unknown) => someIn(value, isSecret);
export const containsUnknown = (value: unknown) => someIn(value, (part) => part === unknownValue);

/**
 * Marks values that a provider returned as secret if the input of the same name is secret. Objects are compared key by key.
 * A secret inside a list makes the whole list secret.
 */
export function markSecrets(outs: Props, ins: Props): Props {
  return mapProps(outs, (out, key) => {
    const input = ins[key];
    if (isProps(out) && isProps(input)) return markSecrets(out, input);
    return containsSecret(input) ? secret(out) : out;
  });
}

/** Replaces each secret by a mask, so that a change of a secret is not shown. */
function masked(value: unknown, mask: unknown = secret("[secret]")): unknown {
  return mapSigned(value, (signed) => (isSecret(signed) ? mask : signed));
}

export const maskedProps = (props: Props) => mapProps(props, (value) => masked(value));

/** Plain data with `[secret]` in place of secrets. */
export const maskedData = (props: Props) => plain(mapProps(props, (value) => masked(value, "[secret]")));

export function equal(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => equal(item, b[index]));
  if (isObject(a) && isObject(b))
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => equal(a[key], b[key]));
  return (a ?? null) === (b ?? null);
}
