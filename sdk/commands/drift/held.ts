import type { JsonObject } from "../../../provider/api/json";
import { isMapping } from "../../../provider/api/json";
import { PROVIDER_KEY } from "../../../provider/check";
import { REFERENCE } from "../../../provider/plugin/values";
import { SECRET, SIGNATURE } from "../../../provider/secretNotes";
import { PROVIDER_TYPE } from "../../../provider/tokens";
import type { ExportedResource, ExportedState } from "../../testing/types";
import { isCloudEndpointType, nameOf } from "../stacks";

/** A cloud endpoint as a stack's state holds it. */
export interface Held {
  name: string;
  urn: string;
  type: string;
  id: string;
  /** What the program gave, secrets in plain: never to be shown as it is. */
  inputs: JsonObject;
  outputs: JsonObject;
  /** The properties that the state marks as secret, or that have a secret in them. */
  secrets: ReadonlySet<string>;
  /** The paths whose changes the program ignores. */
  ignored: string[];
  /** It was replaced, and waits for its deletion. */
  isOld: boolean;
}

/** The cloud endpoints that a stack manages. One that a program only reads (`CloudEndpoint.get`) is not managed. */
export function heldEndpoints(state: ExportedState): Held[] {
  return resourcesOf(state).flatMap((resource) => {
    const { type, external, id } = resource;
    return isCloudEndpointType(type) && external !== true && id ? [held(resource)] : [];
  });
}

/** What each explicit provider of the stack was given. */
export function explicitProviders(state: ExportedState): JsonObject[] {
  return resourcesOf(state)
    .filter(({ type, urn }) => type === PROVIDER_TYPE && !isDefaultProvider(urn))
    .map((resource) => plainOf(resource.inputs));
}

/** Whether an endpoint of the stack has the account that the stack's own configuration names. */
export function usesOwnAccount(state: ExportedState): boolean {
  const ours = resourcesOf(state).filter(({ type }) => isCloudEndpointType(type));
  return (
    ours.length === 0 ||
    ours.some(
      ({ provider = "" }) =>
        isDefaultProvider(provider.slice(0, provider.lastIndexOf("::"))) || !provider.includes(PROVIDER_TYPE),
    )
  );
}

/** The engine's own, by its name: `default`, or `default_1_2_3` for a version. */
const isDefaultProvider = (urn: string) => /^default(_\d+_\d+_\d+.*)?$/.test(nameOf(urn));

const resourcesOf = ({ deployment }: ExportedState): ExportedResource[] => deployment.resources ?? [];

function held(resource: ExportedResource): Held {
  const { urn, type, id = "", inputs = {}, outputs = {}, ignoreChanges } = resource;
  const secrets = new Set<string>();
  const read = (properties: Record<string, unknown>): JsonObject =>
    Object.fromEntries(
      Object.entries(properties).map(([name, value]) => [name, plain(value, () => secrets.add(name))]),
    );
  const { [PROVIDER_KEY]: _, ...given } = read(inputs);
  return {
    name: nameOf(urn),
    urn,
    type,
    id,
    inputs: given,
    outputs: read(outputs),
    secrets,
    ignored: Array.isArray(ignoreChanges) ? ignoreChanges.map(String) : [],
    isOld: resource["delete"] === true || resource["pendingReplacement"] === true,
  };
}

const plainOf = (properties: Record<string, unknown> = {}): JsonObject =>
  Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, plain(value)]));

/** A value of the state as data: a secret is what it holds, a resource its id, a component its URN. */
function plain(value: unknown, onSecret: () => void = () => {}): unknown {
  if (Array.isArray(value)) return value.map((item) => plain(item, onSecret));
  if (!isMapping(value)) return value;
  const { [SIGNATURE]: signature, plaintext } = value;
  if (signature === SECRET) {
    onSecret();
    if (typeof plaintext === "string") return plain(JSON.parse(plaintext), onSecret);
    throw new Error("the state holds an encrypted secret: export it with --show-secrets");
  }
  if (signature === REFERENCE) return value["id"] || value["urn"];
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plain(item, onSecret)]));
}
