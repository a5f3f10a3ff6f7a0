import { execFile } from "node:child_process";
import type { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import { z } from "zod";
import { UserError } from "../../provider/api/apiErrors";
import { CONNECTIONS, HttpClient } from "../../provider/api/client";
import type { LiveEndpoint } from "../../provider/api/contract";
import type { EndpointsApi } from "../../provider/api/endpoints";
import type { JsonObject } from "../../provider/api/json";
import { CLOUD } from "../../provider/api/list";
import { type ConfigReader, readSettings } from "../../provider/api/settings";
import { PROVIDER_TYPE, TYPES } from "../../provider/api/typeTokens";
import { endpointsApi } from "../../provider/endpoint/fields";
import { PROVIDER_KEY } from "../../provider/endpoint/inputs";
import { SECRET, SIGNATURE } from "../../provider/endpoint/secrets";
import { REFERENCE, rebuild } from "../../provider/plugin/values";
import { cliFailure, cliMessage, type LogLine } from "./command";
import { projectFolder } from "./projects";

/* The user's own project, through the Pulumi CLI, which never asks a question: its stacks, their states and their accounts. */

/**
 * The project in a folder.
 *
 * @param purpose What needs the project.
 * @param alternative What the user can do instead of installing the CLI.
 * @throws UserError if there is no Pulumi CLI.
 */
export async function openProject(
  folder: string,
  purpose: string,
  alternative: string,
): Promise<LocalWorkspace> {
  // Loading it takes a second, so only commands that name a stack load it.
  const { LocalWorkspace, PulumiCommand } = await import("@pulumi/pulumi/automation/index.js");
  const pulumiCommand = await PulumiCommand.get().catch((error: unknown) => {
    if (cliFailure(error)?.code !== "ENOENT") throw error;
    throw new UserError(
      `${purpose} needs the Pulumi CLI, and there is no pulumi on the PATH: install it (https://www.pulumi.com/docs/install)${alternative}`,
    );
  });
  return LocalWorkspace.create({ workDir: projectFolder(folder), pulumiCommand });
}

/** A stack's configuration, secrets decrypted. The selected stack stays selected. */
export async function stackConfig(project: LocalWorkspace, stack: string): Promise<ConfigReader> {
  const values = await project.getAllConfig(stack);
  return (key) => (Object.hasOwn(values, key) ? values[key]?.value : undefined);
}

/** A stack's state, secrets decrypted. */
export const stackState = async (project: LocalWorkspace, stack: string): Promise<State> =>
  parseState(await project.exportStack(stack));

/** The ids of the cloud endpoints in the state of a stack of any project. Its secrets stay encrypted. */
export async function knownIds(project: LocalWorkspace, stack: string): Promise<string[]> {
  const state = await runPulumi(project, ["stack", "export", "--stack", stack], `read the stack ${stack}`);
  return managedIds(parseState(JSON.parse(state)));
}

/** The stacks of the project's backend that have resources, named as its folder knows them: `dev` or `organization/other/dev`. */
export async function backendStacks(project: LocalWorkspace): Promise<string[]> {
  const list = await runPulumi(project, ["stack", "ls", "--all", "--json"], "list the stacks of the backend");
  return listSchema
    .parse(JSON.parse(list))
    .flatMap(({ name, resourceCount }) => (resourceCount === 0 ? [] : [name]));
}

const listSchema = z.array(z.object({ name: z.string(), resourceCount: z.number().nullish() }));

/** Sets a secret of a stack's configuration. The Automation API would show the value in the list of processes. */
export async function setSecret(
  project: LocalWorkspace,
  stack: string,
  name: string,
  value: string,
): Promise<void> {
  // The CLI removes one line break at the end.
  await runPulumi(
    project,
    ["config", "set", "--secret", name, "--stack", stack],
    `set ${name}`,
    `${value}\n`,
  );
}

/** Runs the CLI, and returns its stdout. */
function runPulumi(
  { workDir: cwd }: LocalWorkspace,
  args: string[],
  what: string,
  input = "",
): Promise<string> {
  return new Promise((done, failed) => {
    const options = { cwd, maxBuffer: Number.POSITIVE_INFINITY };
    const child = execFile("pulumi", [...args, "--non-interactive"], options, (error, stdout, stderr) => {
      if (error) failed(new UserError(`cannot ${what}: ${cliMessage(stderr)}`));
      else done(stdout);
    });
    // If the CLI ends before it has read everything, its own message has the reason.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}

/**
 * The account of a stack's configuration, or of the environment if the configuration names none.
 *
 * @param log Receives a message about a long wait.
 * @param warn Receives a message about each listed item that cannot be read and is left out.
 * @throws ConfigError if a setting is missing.
 */
export function openAccount(config: ConfigReader, log: LogLine, warn = log): EndpointsApi {
  const options = { log: { info: log, warn }, connections: CONNECTIONS.program };
  return endpointsApi(new HttpClient(readSettings(config), options));
}

/** The cloud endpoints of an account, newest first. A program can manage only these. */
export const cloudEndpoints = ({ list }: EndpointsApi): Promise<LiveEndpoint[]> =>
  list.select(CLOUD, { fresh: true });

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
type StateResource = z.output<typeof resourceSchema>;

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
const managedIds = (state: State): string[] =>
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
const resourceNameOf = (urn: string): string => urn.split("::").slice(3).join("::");

/** The engine's own provider is named `default`, or `default_1_2_3` for a version. */
const isDefaultProvider = (urn: string) => /^default(_\d+_\d+_\d+.*)?$/.test(resourceNameOf(urn));

export const resourcesOf = ({ deployment }: State): StateResource[] => deployment.resources ?? [];

function managed(resource: StateResource, id: string): Managed {
  const { urn, type, inputs = {}, outputs = {}, ignoreChanges = [] } = resource;
  const all = [...Object.entries(inputs), ...Object.entries(outputs)];
  const { [PROVIDER_KEY]: _, ...given } = plainValues(inputs);
  return {
    name: resourceNameOf(urn),
    urn,
    type,
    id,
    inputs: given,
    outputs: plainValues(outputs),
    secrets: new Set(all.filter(([, value]) => hasSecretMark(value)).map(([name]) => name)),
    ignored: ignoreChanges,
    isOld: resource.delete === true || resource.pendingReplacement === true,
  };
}

const hasSecretMark = (value: unknown): boolean => JSON.stringify(value)?.includes(SECRET) === true;

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
