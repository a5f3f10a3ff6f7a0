import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { OUTPUT, REFERENCE, SECRET, SIGNATURE, UNKNOWN } from "../../../provider/pulumi/sentinels";
import { rebuild } from "../../../provider/pulumi/values";
import { isMapping } from "../../../provider/service/json";
import { Unsupported } from "./project";

/*
 * Properties have the same format as in Pulumi's protocol: JSON in which an unknown value is a reserved text, and a secret or
 * a resource is an object with a signature. In comparisons, null is the same as a missing value.
 */
export type Props = Record<string, unknown>;

/** A value that must not be shown. The value of a secret is never another secret. */
interface Secret {
  value: unknown;
}

export function isSecret(value: unknown): value is Secret {
  return isMapping(value) && value[SIGNATURE] === SECRET;
}

/** Whether the value is a plain object, without a signature. */
export function isProps(value: unknown): value is Props {
  return isMapping(value) && value[SIGNATURE] === undefined;
}

export function secret(value: unknown): Props {
  return isSecret(value) ? { ...value } : { [SIGNATURE]: SECRET, value };
}

/** Values, and secrets in the form `{ secret: value }`. */
export const fromSecretForm = (values: Record<string, unknown>) =>
  mapProps(values, (value) =>
    isProps(value) && Object.keys(value).join() === "secret" ? secret(value["secret"]) : value,
  );

export function mapProps(props: Props, convert: (value: unknown, key: string) => unknown): Props {
  const defined = Object.entries(props).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined.map(([key, value]) => [key, convert(value, key)]));
}

/** @throws Unsupported for assets and archives. */
function fromWire(value: unknown): unknown {
  return rebuild(value, (signed) => {
    if (signed[SIGNATURE] === SECRET) return secret(fromWire(signed["value"] ?? null));
    if (signed[SIGNATURE] === OUTPUT) {
      const value = "value" in signed ? fromWire(signed["value"]) : UNKNOWN;
      return signed["secret"] === true ? secret(value) : value;
    }
    if (signed[SIGNATURE] === REFERENCE) return { packageVersion: "", ...signed };
    throw new Unsupported("assets and archives");
  });
}

export const fromStruct = (struct: Struct | undefined): Props =>
  mapProps(struct?.toJavaScript() ?? {}, (value) => fromWire(value));

/** Replaces secrets by their values, resources by their ids, and components by their URNs. */
export function plain(props: Props): Props {
  return mapProps(props, withoutSignatures);
}

function withoutSignatures(value: unknown): unknown {
  return rebuild(value, (signed) => {
    if (isSecret(signed)) return withoutSignatures(signed.value);
    return "id" in signed ? signed["id"] || UNKNOWN : signed["urn"];
  });
}

export function toStruct(props: Props): Struct {
  return Struct.fromJavaScript(
    mapProps(props, (value) => value) as Parameters<typeof Struct.fromJavaScript>[0],
  );
}

/** Converts a value to the format of `pulumi stack export --show-secrets`, with sorted keys. */
function toState(value: unknown): unknown {
  if (isSecret(value)) return { [SIGNATURE]: SECRET, plaintext: JSON.stringify(toState(value.value)) };
  if (Array.isArray(value)) return value.map(toState);
  return isMapping(value) ? propsToState(value) : value;
}

export function propsToState(props: Props): Props {
  const entries = Object.entries(props).sort(([a], [b]) => (a < b ? -1 : 1));
  return mapProps(Object.fromEntries(entries), toState);
}

export function propsFromState(props: Props): Props {
  const fromState = (value: unknown): unknown =>
    rebuild(value, (signed) => {
      if (signed[SIGNATURE] !== SECRET) return signed;
      if (typeof signed["plaintext"] === "string") return secret(fromState(JSON.parse(signed["plaintext"])));
      throw new Error("the state holds an encrypted secret: export it with --show-secrets");
    });
  return mapProps(props, fromState);
}

export function hasSecrets(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isSecret(value) || Object.values(value).some(hasSecrets);
}

/**
 * Marks values that a provider returned as secret if the input of the same name is secret. Objects are compared key by key.
 * A secret inside a list makes the whole list secret.
 */
export function markSecrets(outs: Props, ins: Props): Props {
  return mapProps(outs, (out, key) => {
    const given = ins[key];
    if (isProps(out) && isProps(given)) return markSecrets(out, given);
    return hasSecrets(given) ? secret(out) : out;
  });
}

/** Replaces the value of each secret, so that a change of a secret is not shown. */
export function masked(value: unknown, mask: unknown = secret("[secret]")): unknown {
  return rebuild(value, (signed) => (isSecret(signed) ? mask : signed));
}

export const maskedProps = (props: Props) => mapProps(props, (value) => masked(value));

/** Plain data with `[secret]` in place of secrets. */
export const maskedData = (props: Props) => plain(mapProps(props, (value) => masked(value, "[secret]")));

export function equal(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => equal(item, b[index]));
  if (isMapping(a) && isMapping(b))
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => equal(a[key], b[key]));
  return (a ?? null) === (b ?? null);
}
