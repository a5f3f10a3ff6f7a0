import { PROVIDER_KEY } from "../../../provider/check";
import type { JsonObject } from "../../../provider/schema";
import { PROVIDER_TYPE } from "../../../provider/tokens";
import { fromExported, nameOf, providerUrn } from "../../testing/engine/resourceState";
import { containsSecrets, type Props } from "../../testing/engine/values";
import { NONE, propsToWire } from "../../testing/engine/wire";
import type { ExportedResource, ExportedState } from "../../testing/types";
import { isCloudEndpointType } from "../stacks";

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
    .map((resource) => plain(fromExported(resource).inputs));
}

/** Whether an endpoint of the stack has the account that the stack's own configuration names. */
export function usesOwnAccount(state: ExportedState): boolean {
  const ours = resourcesOf(state).filter(({ type }) => isCloudEndpointType(type));
  return (
    ours.length === 0 ||
    ours.some(
      ({ provider = "" }) => isDefaultProvider(providerUrn(provider)) || !provider.includes(PROVIDER_TYPE),
    )
  );
}

/** The engine's own, by its name: `default`, or `default_1_2_3` for a version. */
const isDefaultProvider = (urn: string) => /^default(_\d+_\d+_\d+.*)?$/.test(nameOf(urn));

const resourcesOf = ({ deployment }: ExportedState): ExportedResource[] => deployment.resources ?? [];

function held(resource: ExportedResource): Held {
  const {
    urn,
    type,
    id,
    inputs,
    outputs,
    ignoreChanges,
    delete: isOld,
    pendingReplacement,
  } = fromExported(resource);
  const all = [...Object.entries(inputs), ...Object.entries(outputs ?? {})];
  const { [PROVIDER_KEY]: _, ...given } = plain(inputs);
  return {
    name: nameOf(urn),
    urn,
    type,
    id,
    inputs: given,
    outputs: plain(outputs ?? {}),
    secrets: new Set(all.filter(([, value]) => containsSecrets(value)).map(([name]) => name)),
    ignored: ignoreChanges,
    isOld: isOld || pendingReplacement,
  };
}

const plain = (props: Props): JsonObject => propsToWire(props, NONE);
