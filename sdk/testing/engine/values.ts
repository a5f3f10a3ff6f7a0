/** The key that tells a special object (a secret, a reference, an asset) from a plain one, on the wire and in the state. */
export const SIGNATURE = "4dabf18193072939515e22adb298388d";
export const SECRET = "1b47061264138c4ac30d75fd1eb44270";
export const REFERENCE = "5cf8f73096256a8f31e491e813e4eb8e";
const ASSET = "c44067f5952c0a294b673a41bacd8c17";
const ARCHIVE = "0def7320c3a5731c473e5ecbe6d01bc7";
/** How the protocol and the state spell a value that is not known yet. */
export const UNKNOWN_TEXT = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** A value that must not be shown. Never nested directly in another. */
export class Secret {
  constructor(readonly element: Value) {}
}

/** A value that only the update will know. */
export class Unknown {
  readonly kind = "unknown";
}

/** Another resource as a value. A component has no id. */
export class Reference {
  constructor(
    readonly urn: string,
    readonly id: string | undefined,
    readonly packageVersion: string,
  ) {}
}

export type Value = null | boolean | number | string | Value[] | Props | Secret | Unknown | Reference;
export interface Props {
  [key: string]: Value;
}

export function isProps(value: Value | undefined): value is Props {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Secret || value instanceof Unknown || value instanceof Reference)
  );
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A secret around the value; a secret stays the one it is. */
export function secret(value: Value): Secret {
  return value instanceof Secret ? value : new Secret(value);
}

export function primitive(value: unknown): Value {
  if (value === null || value === undefined) return null;
  if (typeof value === "boolean" || typeof value === "number" || typeof value === "string") return value;
  throw new Error(`a value of type ${typeof value} cannot be kept in a stack's state`);
}

export function reference(value: Record<string, unknown>): Reference {
  const id = typeof value["id"] === "string" && value["id"] !== "" ? value["id"] : undefined;
  return new Reference(String(value["urn"]), id, String(value["packageVersion"] ?? ""));
}

export function unsupported(signature: unknown): string {
  if (signature === ASSET || signature === ARCHIVE)
    return "the test engine does not support assets and archives";
  return `the test engine does not know values with the signature ${String(signature)}`;
}

export function mapProps(from: Record<string, unknown>, convert: (value: unknown) => Value): Props {
  const to: Props = {};
  for (const [key, value] of Object.entries(from)) if (value !== undefined) to[key] = convert(value);
  return to;
}

/** Writes a value as `pulumi stack export --show-secrets` does; as `SerializePropertyValue`. */
export function toState(value: Value): unknown {
  if (value instanceof Unknown) return UNKNOWN_TEXT;
  if (value instanceof Secret)
    return { [SIGNATURE]: SECRET, plaintext: JSON.stringify(toState(value.element)) };
  if (value instanceof Reference) {
    const { urn, id, packageVersion } = value;
    return { [SIGNATURE]: REFERENCE, urn, packageVersion, ...(id === undefined ? {} : { id }) };
  }
  if (Array.isArray(value)) return value.map(toState);
  return isProps(value) ? propsToState(value) : value;
}

/** Keys in alphabetical order, as Go writes a map, so that exports can be compared as text. */
export function propsToState(props: Props): Record<string, unknown> {
  const keys = Object.keys(props).sort();
  return Object.fromEntries(keys.map((key) => [key, toState(props[key] ?? null)]));
}

/** Reads the state's form; as `DeserializePropertyValue`. */
export function fromState(value: unknown): Value {
  if (value === UNKNOWN_TEXT) return new Unknown();
  if (Array.isArray(value)) return value.map(fromState);
  if (!isRecord(value)) return primitive(value);
  const signature = value[SIGNATURE];
  if (signature === undefined) return propsFromState(value);
  if (signature === REFERENCE) return reference(value);
  if (signature !== SECRET) throw new Error(unsupported(signature));
  if (typeof value["plaintext"] !== "string")
    throw new Error("the state holds an encrypted secret: export it with --show-secrets");
  return secret(fromState(JSON.parse(value["plaintext"])));
}

export function propsFromState(value: unknown): Props {
  return isRecord(value) ? mapProps(value, fromState) : {};
}

function some(value: Value, test: (value: Value) => boolean): boolean {
  if (test(value)) return true;
  if (value instanceof Secret) return some(value.element, test);
  if (Array.isArray(value)) return value.some((item) => some(item, test));
  return isProps(value) && Object.values(value).some((item) => some(item, test));
}

export function containsSecrets(value: Value): boolean {
  return some(value, (item) => item instanceof Secret);
}

export function containsUnknowns(value: Value): boolean {
  return some(value, (item) => item instanceof Unknown);
}

/**
 * Marks what a provider gave back as secret where the value of the same name was secret; as `annotateSecrets`. Objects
 * are followed key by key; a secret inside an array makes the whole array secret.
 */
export function markSecrets(outs: Props, ins: Props): void {
  for (const [key, given] of Object.entries(ins)) {
    const out = outs[key];
    if (out === undefined) continue;
    if (isProps(out) && isProps(given)) markSecrets(out, given);
    else if (containsSecrets(given)) outs[key] = secret(out);
  }
}

/** A copy without secrets' marks, as `unwrapResourceSecretsAndOutputs`. */
export function withoutSecrets(props: Props): Props {
  const strip = (value: Value): Value => {
    if (value instanceof Secret) return strip(value.element);
    if (Array.isArray(value)) return value.map(strip);
    return isProps(value) ? withoutSecrets(value) : value;
  };
  return Object.fromEntries(Object.entries(props).map(([key, value]) => [key, strip(value)]));
}

/** A copy whose objects and arrays may be changed without touching the original. */
export function copyProps(props: Props): Props {
  const copy = (value: Value): Value => {
    if (value instanceof Secret) return new Secret(copy(value.element));
    if (Array.isArray(value)) return value.map(copy);
    return isProps(value) ? copyProps(value) : value;
  };
  return Object.fromEntries(Object.entries(props).map(([key, value]) => [key, copy(value)]));
}

/** Null and a missing property are the same; a secret equals only a secret. As `PropertyValue.DeepEquals`. */
export function equal(a: Value | undefined, b: Value | undefined): boolean {
  if (a === undefined || a === null || b === undefined || b === null) return (a ?? null) === (b ?? null);
  if (a instanceof Secret || b instanceof Secret)
    return a instanceof Secret && b instanceof Secret && equal(a.element, b.element);
  if (a instanceof Unknown || b instanceof Unknown) return a instanceof Unknown && b instanceof Unknown;
  if (a instanceof Reference || b instanceof Reference)
    return a instanceof Reference && b instanceof Reference && a.urn === b.urn && a.id === b.id;
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i]))
    );
  if (isProps(a) && isProps(b))
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => equal(a[key], b[key]));
  return a === b;
}
