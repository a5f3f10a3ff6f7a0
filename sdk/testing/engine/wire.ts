import {
  isProps,
  isRecord,
  mapProps,
  type Props,
  primitive,
  REFERENCE,
  Reference,
  reference,
  SECRET,
  Secret,
  SIGNATURE,
  secret,
  UNKNOWN_TEXT,
  Unknown,
  unsupported,
  type Value,
} from "./values";

/** What an output value of the program is spelt with: a value, whether it is secret, and what it depends on. */
const OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4";

/**
 * Reads what came over the wire. `onDependency` hears the URNs that an output value carries, as `addOutputDependencies`
 * collects them; the output itself becomes what it holds, as `downgradeOutputValues` does.
 */
export function fromWire(value: unknown, onDependency: (urn: string) => void = () => {}): Value {
  if (value === UNKNOWN_TEXT) return new Unknown();
  if (Array.isArray(value)) return value.map((item) => fromWire(item, onDependency));
  if (!isRecord(value)) return primitive(value);
  const signature = value[SIGNATURE];
  if (signature === undefined) return mapProps(value, (item) => fromWire(item, onDependency));
  if (signature === SECRET) return secret(fromWire(value["value"], onDependency));
  if (signature === REFERENCE) return reference(value);
  if (signature === OUTPUT) {
    if (Array.isArray(value["dependencies"])) value["dependencies"].map(String).forEach(onDependency);
    const element = "value" in value ? fromWire(value["value"], onDependency) : new Unknown();
    return value["secret"] === true ? secret(element) : element;
  }
  throw new Error(unsupported(signature));
}

export function propsFromWire(value: unknown, onDependency?: (key: string, urn: string) => void): Props {
  const props: Props = {};
  if (isRecord(value))
    for (const [key, item] of Object.entries(value))
      props[key] = fromWire(item, (urn) => onDependency?.(key, urn));
  return props;
}

/** What the reader of a message understands; the rest is left out. As `MarshalOptions`. */
export interface Keep {
  secrets: boolean;
  references: boolean;
}

/** What the program understands, and a provider's `Configure`. */
export const ALL: Keep = { secrets: true, references: true };
/** What a dynamic provider understands. */
export const NONE: Keep = { secrets: false, references: false };

/**
 * Writes a value for the wire. Who does not keep secrets gets what they hold; who does not keep references gets a
 * resource's id, a component's URN. As `MarshalPropertyValue`.
 */
export function toWire(value: Value, keep: Keep): unknown {
  if (value instanceof Unknown) return UNKNOWN_TEXT;
  if (value instanceof Secret) {
    const element = toWire(value.element, keep);
    return keep.secrets ? { [SIGNATURE]: SECRET, value: element } : element;
  }
  if (value instanceof Reference) {
    const { urn, id, packageVersion } = value;
    return keep.references ? { [SIGNATURE]: REFERENCE, urn, id: id ?? "", packageVersion } : (id ?? urn);
  }
  if (Array.isArray(value)) return value.map((item) => toWire(item, keep));
  return isProps(value) ? propsToWire(value, keep) : value;
}

export function propsToWire(props: Props, keep: Keep): Record<string, unknown> {
  return Object.fromEntries(Object.entries(props).map(([key, item]) => [key, toWire(item, keep)]));
}
