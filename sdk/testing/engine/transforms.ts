import { CallbacksClient } from "@pulumi/pulumi/proto/callback_grpc_pb";
import {
  type Callback,
  CallbackInvokeRequest,
  type CallbackInvokeResponse,
} from "@pulumi/pulumi/proto/callback_pb";
import * as pb from "@pulumi/pulumi/proto/resource_pb";
import { isMapping } from "../../../provider/api/json";
import { SIGNATURE } from "../../../provider/endpoint/secrets";
import { insecure } from "../../../provider/plugin/protocol";
import { OUTPUT, UNKNOWNS } from "../../../provider/plugin/values";
import { isProps, isSecret, mapProps, toStruct } from "./properties";
import { CHANNEL, call } from "./providerCalls";

/** A transform threw an error. The program gets it as the answer to its registration or call. */
export class TransformFailed extends Error {
  override readonly name = "TransformFailed";
}

/** Runs transforms: functions that the program registers, and that its process runs when the engine calls it back. */
export class Transforms {
  readonly ofStack: Callback[] = [];
  readonly ofInvokes: Callback[] = [];
  private readonly clients = new Map<string, CallbacksClient>();

  /**
   * Changes the properties and options of a registration.
   *
   * @param transforms The resource's own transforms, then those of its parents.
   */
  async resource(request: pb.RegisterResourceRequest, transforms: Callback[]): Promise<void> {
    const all = [...transforms, ...this.ofStack];
    if (all.length === 0) return;
    // Only for a resource with own transforms does Pulumi's engine pass the dependencies to the functions, and accept theirs.
    const isTracked = request.getTransformsList().length > 0;
    const dependencies = request.getPropertydependenciesMap();
    const given = Object.entries(request.getObject()?.toJavaScript() ?? {}).map(([key, value]) => {
      const urns = isTracked ? (dependencies.get(key)?.getUrnsList() ?? []) : [];
      return [key, withDependencies(withOutputs(value), urns)];
    });
    const transformed = new pb.TransformRequest()
      .setName(request.getName())
      .setType(request.getType())
      .setCustom(request.getCustom())
      .setParent(request.getParent())
      .setProperties(toStruct(Object.fromEntries(given)))
      .setOptions(optionsOf(request));
    for (const transform of all) {
      const answer = await this.callBack(
        transform,
        transformed,
        "invoke transform: rpc error: code = Unknown desc = ",
      );
      const response = pb.TransformResponse.deserializeBinary(answer);
      transformed.setProperties(response.getProperties() ?? transformed.getProperties());
      transformed.setOptions(response.getOptions() ?? transformed.getOptions());
    }
    const properties = transformed.getProperties()?.toJavaScript() ?? {};
    const options = transformed.getOptions() ?? new pb.TransformResourceOptions();
    if (isTracked) {
      dependencies.clear();
      request.setDependenciesList([...options.getDependsOnList(), ...dependenciesIn(properties)]);
    }
    for (const [key, value] of Object.entries(properties)) {
      const urns = isTracked ? dependenciesIn(value) : (dependencies.get(key)?.getUrnsList() ?? []);
      dependencies.set(key, new pb.RegisterResourceRequest.PropertyDependencies().setUrnsList(urns));
    }
    request.setObject(transformed.getProperties());
    setOptions(request, options);
  }

  /** Changes the arguments and options of a function's call. */
  async invoke(request: pb.ResourceInvokeRequest): Promise<void> {
    const transformed = new pb.TransformInvokeRequest()
      .setToken(request.getTok())
      .setArgs(request.getArgs())
      .setOptions(
        new pb.TransformInvokeOptions()
          .setProvider(request.getProvider())
          .setVersion(request.getVersion())
          .setPluginDownloadUrl(request.getPlugindownloadurl()),
      );
    for (const transform of this.ofInvokes) {
      const answer = await this.callBack(transform, transformed);
      const response = pb.TransformInvokeResponse.deserializeBinary(answer);
      transformed.setArgs(response.getArgs() ?? transformed.getArgs());
      transformed.setOptions(response.getOptions() ?? transformed.getOptions());
    }
    const options = transformed.getOptions();
    request.setArgs(transformed.getArgs()).setProvider(options?.getProvider() ?? "");
    request.setVersion(options?.getVersion() ?? "");
    request.setPlugindownloadurl(options?.getPluginDownloadUrl() ?? "");
  }

  close(): void {
    for (const client of this.clients.values()) client.close();
  }

  private async callBack(
    transform: Callback,
    message: pb.TransformRequest | pb.TransformInvokeRequest,
    context = "",
  ) {
    const target = transform.getTarget();
    const client = this.clients.get(target) ?? new CallbacksClient(target, insecure(), CHANNEL);
    this.clients.set(target, client);
    const request = new CallbackInvokeRequest()
      .setToken(transform.getToken())
      .setRequest(message.serializeBinary());
    const answer = call<CallbackInvokeResponse>((done) => client.invoke(request, done));
    const response = await answer.catch((error: Error) => {
      throw new TransformFailed(context + error.message);
    });
    return response.getResponse_asU8();
  }
}

function optionsOf(request: pb.RegisterResourceRequest): pb.TransformResourceOptions {
  const options = new pb.TransformResourceOptions()
    .setImport(request.getImportid())
    .setDependsOnList(request.getDependenciesList())
    .setIgnoreChangesList(request.getIgnorechangesList())
    .setReplaceOnChangesList(request.getReplaceonchangesList())
    .setVersion(request.getVersion())
    .setAliasesList(request.getAliasesList())
    .setProvider(request.getProvider())
    .setPluginDownloadUrl(request.getPlugindownloadurl())
    .setAdditionalSecretOutputsList(request.getAdditionalsecretoutputsList());
  for (const [package_, provider] of entriesOf(request.getProvidersMap()))
    options.getProvidersMap().set(package_, provider);
  if (request.hasProtect()) options.setProtect(request.getProtect() ?? false);
  if (request.hasRetainondelete()) options.setRetainOnDelete(request.getRetainondelete() ?? false);
  if (request.getDeletebeforereplacedefined() || request.getDeletebeforereplace())
    options.setDeleteBeforeReplace(request.getDeletebeforereplace());
  return options;
}

/** Copies all options, also those that the engine then refuses. */
function setOptions(request: pb.RegisterResourceRequest, options: pb.TransformResourceOptions): void {
  request
    .setImportid(options.getImport())
    .setIgnorechangesList(options.getIgnoreChangesList())
    .setReplaceonchangesList(options.getReplaceOnChangesList())
    .setVersion(options.getVersion())
    .setAliasesList(options.getAliasesList())
    .setProvider(options.getProvider())
    .setPlugindownloadurl(options.getPluginDownloadUrl())
    .setAdditionalsecretoutputsList(options.getAdditionalSecretOutputsList())
    .setDeletebeforereplace(options.getDeleteBeforeReplace() ?? false)
    .setDeletebeforereplacedefined(options.hasDeleteBeforeReplace())
    .setCustomtimeouts(options.getCustomTimeouts())
    .setDeletedwith(options.getDeletedWith())
    .setReplaceWithList(options.getReplaceWithList())
    .setHidediffsList(options.getHideDiffList())
    .setHooks(options.getHooks())
    .setReplacementTrigger(options.getReplacementTrigger());
  if (options.hasProtect()) request.setProtect(options.getProtect() ?? false);
  else request.clearProtect();
  if (options.hasRetainOnDelete()) request.setRetainondelete(options.getRetainOnDelete() ?? false);
  else request.clearRetainondelete();
  request.getProvidersMap().clear();
  for (const [package_, provider] of entriesOf(options.getProvidersMap()))
    request.getProvidersMap().set(package_, provider);
}

const entriesOf = (map: ReturnType<pb.RegisterResourceRequest["getProvidersMap"]>) => map.toObject(false);

/** Secrets and unknown values in the form of outputs, in which the functions expect them. */
function withOutputs(value: unknown): unknown {
  if (isSecret(value)) return { [SIGNATURE]: OUTPUT, value: withOutputs(value.value), secret: true };
  if (Array.isArray(value)) return value.map(withOutputs);
  if (isProps(value)) return mapProps(value, withOutputs);
  return UNKNOWNS.has(value) ? { [SIGNATURE]: OUTPUT } : value;
}

function withDependencies(value: unknown, dependencies: string[]): unknown {
  if (dependencies.length === 0) return value;
  const isOutput = isMapping(value) && value[SIGNATURE] === OUTPUT;
  return { ...(isOutput ? value : { [SIGNATURE]: OUTPUT, value }), dependencies };
}

/** The URNs that the outputs in a value depend on. */
function dependenciesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(dependenciesIn);
  if (!isMapping(value)) return [];
  const own = value[SIGNATURE] === OUTPUT ? [value["dependencies"] ?? []].flat().map(String) : [];
  return [...own, ...Object.values(value).flatMap(dependenciesIn)];
}
