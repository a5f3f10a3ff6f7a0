import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { isMapping, type JsonObject } from "../../sdk/traffic-policy/data/index";
import { OUTPUT, REFERENCE, SECRET, SIGNATURE, UNKNOWN, UNKNOWNS } from "./sentinels";

/*
 * The codec of Pulumi's properties, on the wire and in a state: JSON in which objects with a signature have a special meaning,
 * and some texts mean "not known yet". The core receives neither.
 */

/**
 * Converts a value: every unknown becomes the same text, and `signed` converts each object with a signature. Undefined parts are
 * omitted, or become null in a list, as in JSON.
 */
function rebuild(value: unknown, signed: (object: JsonObject) => unknown): unknown {
  if (UNKNOWNS.has(value)) return UNKNOWN;
  if (Array.isArray(value)) return value.map((item) => rebuild(item ?? null, signed));
  if (!isMapping(value)) return value;
  if (value[SIGNATURE] !== undefined) return signed(value);
  const parts = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(parts.map(([name, part]) => [name, rebuild(part, signed)]));
}

/** Properties from the engine. */
interface FromEngine {
  /**
   * The values for the core: the content of secrets, the id of a resource that is a property itself, and one text for all unknown
   * values. Assets, archives and resources within a value keep their signature, and the checks refuse them.
   */
  props: JsonObject;
  /** The top-level properties with a secret in them. */
  secrets: ReadonlySet<string>;
}

/** @param hidesSecrets Whether secrets count as unknown values. */
export function fromEngine(struct: Struct | undefined, { hidesSecrets = false } = {}): FromEngine {
  const secrets = new Set<string>();
  const plain = (value: unknown, name: string, isProperty = true): unknown =>
    rebuild(value, (object) => {
      const isWhole = isProperty && object === value;
      const { [SIGNATURE]: signature } = object;
      const isSecret = signature === SECRET || (signature === OUTPUT && object["secret"] === true);
      if (isSecret) secrets.add(name);
      if (isSecret || signature === OUTPUT)
        return "value" in object && !(isSecret && hidesSecrets)
          ? plain(object["value"], name, isWhole)
          : UNKNOWN;
      // The id is empty while it is unknown. A component has no id but a URN.
      if (signature === REFERENCE && isWhole)
        return "id" in object ? plain(object["id"] || UNKNOWN, name) : object["urn"];
      return object;
    });
  const all = Object.entries(struct?.toJavaScript() ?? {});
  return { props: Object.fromEntries(all.map(([name, value]) => [name, plain(value, name)])), secrets };
}

/** Properties for the engine. */
export function toEngine(props: JsonObject): Struct {
  // A message refuses undefined values, and JSON omits them.
  return Struct.fromJavaScript(JSON.parse(JSON.stringify(props)));
}
