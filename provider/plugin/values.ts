import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import type { JsonObject } from "../api/json";
import { isMapping } from "../api/json";
import { type Path, pathText, UNKNOWN } from "../document";
import { asSecret, SECRET, SIGNATURE } from "../markedSecrets";

/*
 * The one codec of Pulumi's properties, on the wire and in a state: JSON in which objects with a signature have a meaning,
 * and some texts mean "not known yet". The core knows neither.
 */

export const REFERENCE = "5cf8f73096256a8f31e491e813e4eb8e";
export const OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4";

/** One text for each type that the value will have. The core knows the first. */
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
 * Rebuilds a value: every unknown becomes the same text, and `signed` gives what stands for each object with a signature.
 * Parts that are undefined are left out, or become null in a list, as in JSON.
 */
function rebuild(
  value: unknown,
  signed: (object: JsonObject, path: Path) => unknown,
  path: Path = [],
): unknown {
  if (UNKNOWNS.has(value)) return UNKNOWN;
  if (Array.isArray(value))
    return value.map((item, index) => rebuild(item ?? null, signed, [...path, index]));
  if (!isMapping(value)) return value;
  if (value[SIGNATURE] !== undefined) return signed(value, path);
  const parts = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(parts.map(([name, part]) => [name, rebuild(part, signed, [...path, name])]));
}

/** An asset or an archive. It is no plain data, so every check refuses it. */
class Foreign {}

/** Properties that came from the engine. */
export interface Received {
  /** In the core's terms: secrets are what they hold, references are ids, every unknown is the same text. */
  props: JsonObject;
  /** The top-level properties with a secret in them. */
  secrets: ReadonlySet<string>;
  /** Where these secrets stand, as Pulumi writes paths. */
  places: string[];
}

export function received(struct: Struct | undefined): Received {
  const secrets = new Set<string>();
  const places: string[] = [];
  const plain = (object: JsonObject, path: Path): unknown => {
    const { [SIGNATURE]: signature } = object;
    if (signature === SECRET || (signature === OUTPUT && object["secret"] === true)) {
      secrets.add(String(path[0]));
      places.push(pathText(path));
    }
    if (signature === SECRET || signature === OUTPUT)
      return "value" in object ? rebuild(object["value"], plain, path) : UNKNOWN;
    // A resource stands for its id, which is empty as long as it is unknown; a component, which has none, for its URN.
    if (signature === REFERENCE)
      return "id" in object ? rebuild(object["id"] || UNKNOWN, plain, path) : object["urn"];
    return new Foreign();
  };
  const all = Object.entries(struct?.toJavaScript() ?? {});
  const props = all.map(([name, value]) => [name, rebuild(value, plain, [name])]);
  return { props: Object.fromEntries(props), secrets, places };
}

/**
 * Properties on their way to the engine. A property with a secret in it is secret as a whole: the engine marks values by
 * their path, and a secret that moved within a policy would otherwise come back unmarked.
 */
export function toStruct(props: JsonObject, secrets: ReadonlySet<string> = new Set()): Struct {
  const data = Object.entries(props).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const built = rebuild(value, (object) => object);
    return [[name, secrets.has(name) ? asSecret(built) : built]];
  });
  return Struct.fromJavaScript(Object.fromEntries(data));
}
