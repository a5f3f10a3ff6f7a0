import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Alias,
  type ComponentResourceOptions,
  DependencyResource,
  RunError,
  rootStackResource,
} from "@pulumi/pulumi";
import type { Alias as AliasMessage } from "@pulumi/pulumi/proto/alias_pb";
import { type ConstructRequest, ConstructResponse } from "@pulumi/pulumi/proto/provider_pb";
import { setAllConfig } from "@pulumi/pulumi/runtime/config";
import { serializeResourceProperties } from "@pulumi/pulumi/runtime/rpc";
import { resetOptions } from "@pulumi/pulumi/runtime/settings";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { InvalidInputs } from "../../provider/plugin/failure";
import { mistakesOfInputs, WebhookVerification, type WebhookVerificationArgs } from "./webhookVerification";

/*
 * The webhook component for programs in other languages. In the plugin's process, it runs as it does in a Node program, with
 * Pulumi's runtime.
 */

// Pulumi's own host of components uses these, but Pulumi does not declare them.
const { withLocalStorage }: { withLocalStorage<T>(work: () => Promise<T>): Promise<T> } =
  require("@pulumi/pulumi/runtime/state");
const {
  awaitFeatureSupport,
  waitForRPCs,
}: Record<"awaitFeatureSupport" | "waitForRPCs", () => Promise<void>> =
  require("@pulumi/pulumi/runtime/settings");
const {
  deserializeInputs,
}: { deserializeInputs(inputs?: Struct, urns?: unknown): Promise<WebhookVerificationArgs> } =
  require("@pulumi/pulumi/provider/server");

// The outputs of a component with mistakes fail, and nobody waits for them. The process must go on, because it may be creating an
// endpoint.
process.on("unhandledRejection", (error) => {
  if (!RunError.isInstance(error)) console.error(error);
});

/** Carries out the call `construct` of the plugin (`provider/plugin/functions.ts`). */
export async function constructWebhookVerification(
  request: ConstructRequest,
  engine: string,
): Promise<ConstructResponse> {
  const inRun = await runOf(request, engine);
  return inRun(async () => {
    const inputs = await deserializeInputs(request.getInputs(), request.getInputdependenciesMap());
    const component = new WebhookVerification(request.getName(), inputs, optionsOf(request));
    const mistakes = await mistakesOfInputs(component);
    if (mistakes.length > 0) throw new InvalidInputs(mistakes);

    const { urn, platform, secretSource, trafficPolicy, agentOptions, agentConfig } = component;
    const outputs = { platform, secretSource, trafficPolicy, agentOptions, agentConfig };
    const [state, dependencies] = await serializeResourceProperties(request.getName(), outputs);
    const response = new ConstructResponse();
    response.setUrn(await promiseOf(urn));
    response.setState(Struct.fromJavaScript(state));
    for (const [output, resources] of dependencies) {
      const urns = await Promise.all([...resources].map(({ urn }) => promiseOf(urn)));
      const message = new ConstructResponse.PropertyDependencies().setUrnsList(urns);
      response.getStatedependenciesMap().set(output, message);
    }
    await waitForRPCs();
    return response;
  });
}

type InRun = <T>(work: () => T) => T;

/** The runs by the address of the engine's monitor. */
const runs = new Map<string, Promise<InRun>>();

/**
 * The run that the component belongs to. Pulumi's runtime keeps the connection and the settings of a run in the asynchronous
 * context, so that components of one run share them.
 */
function runOf(request: ConstructRequest, engine: string): Promise<InRun> {
  const address = request.getMonitorendpoint();
  const known = runs.get(address);
  if (known) return known;
  const run = withLocalStorage(async () => {
    resetOptions(
      request.getProject(),
      request.getStack(),
      request.getParallel(),
      engine,
      address,
      request.getDryrun(),
      request.getOrganization(),
    );
    setAllConfig(Object.fromEntries(request.getConfigMap().entries()), request.getConfigsecretkeysList());
    await awaitFeatureSupport();
    return AsyncLocalStorage.snapshot();
  });
  runs.set(address, run);
  // The next component of the run tries again.
  run.catch(() => runs.delete(address));
  return run;
}

/** The options that matter to a component without children. */
function optionsOf(request: ConstructRequest): ComponentResourceOptions {
  return {
    ...(request.getParent() && { parent: new DependencyResource(request.getParent()) }),
    dependsOn: request.getDependenciesList().map((urn) => new DependencyResource(urn)),
    aliases: request.getAliasesList().map(aliasOf),
    ...(request.hasProtect() && { protect: request.getProtect() === true }),
    ...(request.hasRetainondelete() && { retainOnDelete: request.getRetainondelete() === true }),
  };
}

function aliasOf(message: AliasMessage): string | Alias {
  const spec = message.getSpec();
  if (!spec) return message.getUrn();
  const [name, type, stack, project] = [spec.getName(), spec.getType(), spec.getStack(), spec.getProject()];
  return {
    ...(name && { name }),
    ...(type && { type }),
    ...(stack && { stack }),
    ...(project && { project }),
    ...(spec.hasParenturn() && { parent: spec.getParenturn() }),
    ...(spec.hasNoparent() && spec.getNoparent() && { parent: rootStackResource }),
  };
}

/** Pulumi gives each output this method, but does not declare it. */
async function promiseOf(output: object): Promise<string> {
  return "promise" in output && typeof output.promise === "function" ? String(await output.promise()) : "";
}
