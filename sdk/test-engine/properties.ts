import { isMapping } from "../../provider/data/index";
import { mapProps, mapSigned, SECRET, SIGNATURE } from "../../provider/pulumi/sentinels";
import { containsSecret, isProps, isSecret, type Props, plain, secret } from "../pulumi-cli/index";

/* What the engine does with properties. In comparisons, null equals a missing value. */

/** Properties from values, in which `{ secret: value }` stands for a secret. */
export const fromSecretForm = (values: Record<string, unknown>) =>
  mapProps(values, (value) =>
    isProps(value) && Object.keys(value).join() === "secret" ? secret(value["secret"]) : value,
  );

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
  if (isMapping(a) && isMapping(b))
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => equal(a[key], b[key]));
  return (a ?? null) === (b ?? null);
}
