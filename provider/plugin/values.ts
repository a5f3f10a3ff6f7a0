import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import type { JsonObject } from "../api/json";
import { isMapping } from "../api/json";
import { type Path, pathText, UNKNOWN } from "../document";
import { asSecret, SECRET, SIGNATURE } from "../secretNotes";

/*
 * Properties as they travel between Pulumi's engine and a provider: JSON in which some objects carry a signature, and
 * some texts mean "not known yet". The core knows neither; see `MarshalPropertyValue` in Pulumi's plugin package.
 */

export const REFERENCE = "5cf8f73096256a8f31e491e813e4eb8e";
export const OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4";

/** One text for each type that the value will have; the core knows the first. */
export const UNKNOWNS: ReadonlySet<unknown> = new Set([
  UNKNOWN,
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
  "030794c1-ac77-496b-92df-f27374a8bd58",
  "e48ece36-62e2-4504-bad9-02848725956a",
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
]);

/** What cannot be a part of an endpoint: an asset or an archive. No plain data, so every check refuses it. */
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
  const onSecret = (path: Path) => {
    secrets.add(String(path[0]));
    places.push(pathText(path));
  };
  const all = Object.entries(struct?.toJavaScript() ?? {});
  const props = all.map(([name, value]) => [name, plain(value, [name], onSecret)]);
  return { props: Object.fromEntries(props), secrets, places };
}

/**
 * Properties on their way to the engine. Whatever has a secret in it is secret as a whole: the engine marks values by
 * their path, and a secret that moved within a policy would otherwise come back unmarked.
 */
export function toStruct(props: JsonObject, secrets: ReadonlySet<string> = new Set()): Struct {
  const all = Object.entries(props).filter(([, value]) => value !== undefined);
  const marked = all.map(([name, value]) => [name, secrets.has(name) ? asSecret(value) : value]);
  return Struct.fromJavaScript(defined(Object.fromEntries(marked)) as Plain);
}

type Plain = Parameters<typeof Struct.fromJavaScript>[0];

function plain(value: unknown, path: Path, onSecret: (path: Path) => void): unknown {
  if (UNKNOWNS.has(value)) return UNKNOWN;
  if (Array.isArray(value)) return value.map((item, index) => plain(item, [...path, index], onSecret));
  if (!isMapping(value)) return value;
  const { [SIGNATURE]: signature } = value;
  if (signature === undefined) {
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, plain(item, [...path, name], onSecret)]),
    );
  }
  if (signature === SECRET || (signature === OUTPUT && value["secret"] === true)) onSecret(path);
  if (signature === SECRET || signature === OUTPUT)
    return "value" in value ? plain(value["value"], path, onSecret) : UNKNOWN;
  // A resource stands for its id, which is empty as long as it is not known; a component, which has none, for its URN.
  if (signature === REFERENCE)
    return "id" in value ? plain(value["id"] || UNKNOWN, path, onSecret) : value["urn"];
  return new Foreign();
}

/** Without the parts that JSON leaves out, which the protocol's own structures do not take. */
function defined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => defined(item ?? null));
  if (!isMapping(value)) return value;
  const parts = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(parts.map(([name, part]) => [name, defined(part)]));
}
