import { isMapping } from "../../provider/data/index";
import { asSecret, mapProps, mapSigned, SECRET, SIGNATURE, UNKNOWN } from "../../provider/pulumi/sentinels";

/*
 * Properties of a resource, in the format of Pulumi's protocol and of its states: JSON in which an unknown value is a reserved text,
 * and a secret or a resource is an object with a signature.
 */
export type Props = Record<string, unknown>;

/** Whether the value is a plain object, without a signature. */
export const isProps = (value: unknown): value is Props => isMapping(value) && value[SIGNATURE] === undefined;

/** Whether this is a secret. Its value is never another secret. */
export const isSecret = (value: unknown): value is { value: unknown } =>
  isMapping(value) && value[SIGNATURE] === SECRET;

export function secret(value: unknown): Props {
  return isSecret(value) ? { ...value } : asSecret(value);
}

/** Replaces secrets by their values, resources by their ids, and components by their URNs. */
export function plain(props: Props): Props {
  return mapProps(props, withoutSignatures);
}

function withoutSignatures(value: unknown): unknown {
  return mapSigned(value, (signed) => {
    if (isSecret(signed)) return withoutSignatures(signed.value);
    return "id" in signed ? signed["id"] || UNKNOWN : signed["urn"];
  });
}

/** Properties of an exported state. @throws Error if a secret is encrypted. */
export function propsFromState(props: Props): Props {
  const fromState = (value: unknown): unknown =>
    mapSigned(value, (signed) => {
      if (signed[SIGNATURE] !== SECRET) return signed;
      if (typeof signed["plaintext"] === "string") return secret(fromState(JSON.parse(signed["plaintext"])));
      throw new Error("the state has an encrypted secret: export it with --show-secrets");
    });
  return mapProps(props, fromState);
}

/** Whether the value or a part of it is a secret. */
export function containsSecret(value: unknown): boolean {
  if (isSecret(value)) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(containsSecret);
}
