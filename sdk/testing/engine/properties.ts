import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { isMapping } from "../../../provider/api/json";
import { UNKNOWN } from "../../../provider/document";
import { SECRET, SIGNATURE } from "../../../provider/markedSecrets";
import { REFERENCE, rebuild } from "../../../provider/plugin/values";
import { Unsupported } from "./project";

/*
 * Properties are kept as they travel: JSON in which a value that is not known yet is a certain text, and a secret or
 * another resource is an object with a signature. Null counts as missing wherever values are compared.
 */
export type Props = Record<string, unknown>;

/** A value that must not be shown. Never nested directly in another. */
interface Secret {
  value: unknown;
}

export function isSecret(value: unknown): value is Secret {
  return isMapping(value) && value[SIGNATURE] === SECRET;
}

/** Whether the value is an object of the program's own. */
export function isProps(value: unknown): value is Props {
  return isMapping(value) && value[SIGNATURE] === undefined;
}

export function secret(value: unknown): Props {
  return isSecret(value) ? { ...value } : { [SIGNATURE]: SECRET, value };
}

function mapProps(props: Props, convert: (value: unknown, key: string) => unknown): Props {
  const defined = Object.entries(props).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined.map(([key, value]) => [key, convert(value, key)]));
}

/** Reads what came over the wire. */
function fromWire(value: unknown): unknown {
  return rebuild(value, (signed) => {
    if (signed[SIGNATURE] === SECRET) return secret(fromWire(signed["value"] ?? null));
    if (signed[SIGNATURE] === REFERENCE) return { packageVersion: "", ...signed };
    throw new Unsupported("assets and archives");
  });
}

export const fromStruct = (struct: Struct | undefined): Props =>
  mapProps(struct?.toJavaScript() ?? {}, (value) => fromWire(value));

/** As plain data: the value of a secret, and the id or, of a component, the URN of a resource. */
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

/** As `pulumi stack export --show-secrets` writes a value, its keys in order. */
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
 * Marks values that a provider returned as secret if the input of the same name was. Objects are followed key by key; a
 * secret inside a list makes the whole list secret.
 */
export function markSecrets(outs: Props, ins: Props): Props {
  return mapProps(outs, (out, key) => {
    const given = ins[key];
    if (isProps(out) && isProps(given)) return markSecrets(out, given);
    return hasSecrets(given) ? secret(out) : out;
  });
}

/** With `[secret]` in place of what each secret holds: a change of a secret is no difference that is shown. */
export function masked(value: unknown, mask: unknown = secret("[secret]")): unknown {
  return rebuild(value, (signed) => (isSecret(signed) ? mask : signed));
}

export const maskedProps = (props: Props) => mapProps(props, (value) => masked(value));

/** Plain data that may be shown. */
export const shown = (props: Props) => plain(mapProps(props, (value) => masked(value, "[secret]")));

export function equal(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => equal(item, b[index]));
  if (isMapping(a) && isMapping(b))
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => equal(a[key], b[key]));
  return (a ?? null) === (b ?? null);
}

/**
 * As Go prints a value with `%v`, which is how the engine shows a property whose check failed: `{text}`, `{map[a:{1}]}`,
 * and a secret in plain, `{&{{text}}}`.
 */
export function goText(value: unknown): string {
  if (value === undefined || value === null) return "{<nil>}";
  if (value === UNKNOWN) return "{{{}}}";
  if (isSecret(value)) return `{&{${goText(value.value)}}}`;
  if (Array.isArray(value)) return `{[${value.map(goText).join(" ")}]}`;
  if (isProps(value)) {
    const keys = Object.keys(value).sort();
    return `{map[${keys.map((key) => `${key}:${goText(value[key])}`).join(" ")}]}`;
  }
  if (isMapping(value)) return `{{${value["urn"]}   ${goText(value["id"])} ${value["packageVersion"]}}}`;
  if (typeof value !== "number") return `{${value}}`;
  // Go writes an exponent, of at least two digits, from a million on and below a ten-thousandth.
  const isPlain = value === 0 || (Math.abs(value) >= 1e-4 && Math.abs(value) < 1e6);
  return `{${isPlain ? value : value.toExponential().replace(/e([+-])(\d)$/, "e$10$2")}}`;
}
