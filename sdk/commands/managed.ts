import { z } from "zod";
import { PROVIDER_TYPE, TYPES } from "../../provider/api/config";
import type { JsonObject } from "../../provider/api/json";
import { PROVIDER_KEY } from "../../provider/endpoint/check";
import { SECRET, SIGNATURE } from "../../provider/endpoint/secrets";
import { REFERENCE, rebuild } from "../../provider/plugin/values";

/* The cloud endpoints and the accounts in a stack's state. */

const resourceSchema = z.object({
  urn: z.string(),
  type: z.string(),
  id: z.string().optional(),
  external: z.boolean().optional(),
  provider: z.string().optional(),
  inputs: z.record(z.string(), z.unknown()).optional(),
  outputs: z.record(z.string(), z.unknown()).optional(),
  ignoreChanges: z.array(z.string()).optional(),
  delete: z.boolean().optional(),
  pendingReplacement: z.boolean().optional(),
});
type Resource = z.output<typeof resourceSchema>;

const stateSchema = z.object({
  deployment: z.object({
    resources: z.array(resourceSchema).nullish(),
    /** The operations of a killed run that had begun and not ended. */
    pending_operations: z.array(z.unknown()).nullish(),
  }),
});
export type State = z.output<typeof stateSchema>;

/** Parses the result of `pulumi stack export --show-secrets`. */
export const parseState = (exported: unknown): State => stateSchema.parse(exported);

/** A cloud endpoint in a stack's state. */
export interface Managed {
  name: string;
  urn: string;
  type: string;
  id: string;
  /** The program's inputs, secrets decrypted. Never show them unmasked. */
  inputs: JsonObject;
  outputs: JsonObject;
  /** The properties that the state marks as secret, or that contain a secret. */
  secrets: ReadonlySet<string>;
  /** The paths whose changes the program ignores. */
  ignored: string[];
  /** It was replaced, and its deletion is pending. */
  isOld: boolean;
}

/** The cloud endpoints that a stack manages. It does not manage those that it only reads (`CloudEndpoint.get`). */
export function managedEndpoints(state: State): Managed[] {
  return resourcesOf(state).flatMap((resource) => {
    const { type, external, id } = resource;
    return isCloudEndpointType(type) && external !== true && id ? [managed(resource, id)] : [];
  });
}

/** The ids of those endpoints, also of a state with encrypted secrets. */
export const managedIds = (state: State): string[] =>
  resourcesOf(state).flatMap(({ type, external, id }) =>
    isCloudEndpointType(type) && external !== true && id ? [id] : [],
  );

/** The inputs of each explicit provider of the stack. */
export function explicitProviders(state: State): JsonObject[] {
  return resourcesOf(state)
    .filter(({ type, urn }) => type === PROVIDER_TYPE && !isDefaultProvider(urn))
    .map(({ inputs = {} }) => plainValues(inputs));
}

/** Whether an endpoint of the stack uses the account of the stack's own configuration. */
export function usesOwnAccount(state: State): boolean {
  const endpoints = resourcesOf(state).filter(({ type }) => isCloudEndpointType(type));
  return (
    endpoints.length === 0 ||
    endpoints.some(
      ({ provider = "" }) =>
        isDefaultProvider(provider.slice(0, provider.lastIndexOf("::"))) || !provider.includes(PROVIDER_TYPE),
    )
  );
}

/** Whether this is a cloud endpoint of the dynamic provider or of the plugin. */
export const isCloudEndpointType = (type: string): boolean => Object.values<string>(TYPES).includes(type);

/** The name in `urn:pulumi:stack::project::type::name`, which may contain `::` itself. */
const nameOf = (urn: string): string => urn.split("::").slice(3).join("::");

/** The engine's own provider is named `default`, or `default_1_2_3` for a version. */
const isDefaultProvider = (urn: string) => /^default(_\d+_\d+_\d+.*)?$/.test(nameOf(urn));

const resourcesOf = ({ deployment }: State): Resource[] => deployment.resources ?? [];

function managed(resource: Resource, id: string): Managed {
  const { urn, type, inputs = {}, outputs = {}, ignoreChanges = [] } = resource;
  const all = [...Object.entries(inputs), ...Object.entries(outputs)];
  const { [PROVIDER_KEY]: _, ...given } = plainValues(inputs);
  return {
    name: nameOf(urn),
    urn,
    type,
    id,
    inputs: given,
    outputs: plainValues(outputs),
    secrets: new Set(all.filter(([, value]) => hasSecret(value)).map(([name]) => name)),
    ignored: ignoreChanges,
    isOld: resource.delete === true || resource.pendingReplacement === true,
  };
}

const hasSecret = (value: unknown): boolean => JSON.stringify(value)?.includes(SECRET) === true;

/** The state's properties as data: of a secret its content, of a resource its id, of a component its URN. */
function plainValues(properties: object): JsonObject {
  const plain = (signed: JsonObject): unknown => {
    const { [SIGNATURE]: signature, plaintext } = signed;
    if (signature === REFERENCE) return signed["id"] || signed["urn"];
    if (signature !== SECRET) return signed;
    if (typeof plaintext === "string") return rebuild(JSON.parse(plaintext), plain);
    throw new Error("the state has an encrypted secret: export it with --show-secrets");
  };
  return rebuild(properties, plain) as JsonObject;
}
