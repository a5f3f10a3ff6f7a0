import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import type { JsonObject } from "../data/index";
import { mapSigned, OUTPUT, REFERENCE, SECRET, SIGNATURE, UNKNOWN, UNKNOWNS } from "./sentinels";

/*
 * The codec of Pulumi's properties, on the wire and in a state: JSON in which objects with a signature have a special meaning,
 * and some texts mean "not known yet". The core receives neither.
 */

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
    mapSigned(
      value,
      (object) => {
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
      },
      (part) => (UNKNOWNS.has(part) ? UNKNOWN : part),
    );
  const all = Object.entries(struct?.toJavaScript() ?? {});
  return { props: Object.fromEntries(all.map(([name, value]) => [name, plain(value, name)])), secrets };
}

/** Properties for the engine. */
export function toEngine(props: JsonObject): Struct {
  // A message refuses undefined values, and JSON omits them.
  return Struct.fromJavaScript(JSON.parse(JSON.stringify(props)));
}
