import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { isMapping, type JsonObject } from "../api/json";
import { UNKNOWN } from "../endpoint/documents";
import { SECRET, SECRETS_KEY, SIGNATURE } from "../endpoint/secrets";

/*
 * The codec of Pulumi's properties, on the wire and in a state: JSON in which objects with a signature have a special meaning,
 * and some texts mean "not known yet". The core receives neither.
 */

export const REFERENCE = "5cf8f73096256a8f31e491e813e4eb8e";
export const OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4";

/** The texts for unknown values, one for each type of value. The core only uses the first. */
export const UNKNOWNS: ReadonlySet<unknown> = new Set([
  UNKNOWN,
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
  "030794c1-ac77-496b-92df-f27374a8bd58",
  "e48ece36-62e2-4504-bad9-02848725956a",
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
]);

/**
 * Converts a value: every unknown becomes the same text, and `signed` converts each object with a signature. Undefined parts are
 * omitted, or become null in a list, as in JSON.
 */
export function rebuild(value: unknown, signed: (object: JsonObject) => unknown): unknown {
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

/** Properties for the engine. The note of secret fields is left out, because the plugin receives and sends marks. */
export function toEngine({ [SECRETS_KEY]: _, ...props }: JsonObject): Struct {
  // A message refuses undefined values, and JSON omits them.
  return Struct.fromJavaScript(JSON.parse(JSON.stringify(props)));
}
