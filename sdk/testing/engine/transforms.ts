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
import type { Options } from "./goals";
import { messageOf } from "./project";
import { isProps, isSecret, mapProps, toStruct } from "./properties";
import { CHANNEL, call } from "./providerCalls";

/** A transform threw an error. The program gets it as the answer to its registration. */
export class TransformFailed extends Error {
  override readonly name = "TransformFailed";
}

/** Runs transforms: functions that the program registers, and that its process runs when the engine calls it back. */
export class Transforms {
  readonly ofStack: Callback[] = [];
  private readonly clients = new Map<string, CallbacksClient>();

  /**
   * Changes the properties and dependencies of a registration, and returns its options.
   *
   * @param transforms The resource's own transforms, then those of its parents.
   */
  async resource(
    request: pb.RegisterResourceRequest,
    options: Options,
    transforms: Callback[],
  ): Promise<Options> {
    const all = [...transforms, ...this.ofStack];
    if (all.length === 0) return options;
    // Only for a resource with own transforms does Pulumi's engine pass the dependencies to the functions, and accept theirs.
    const isTracked = request.getTransformsList().length > 0;
    const dependencies = request.getPropertydependenciesMap();
    const dependenciesOf = (key: string) => dependencies.get(key)?.getUrnsList() ?? [];
    const given = mapProps(request.getObject()?.toJavaScript() ?? {}, (value, key) =>
      withDependencies(withOutputs(value), isTracked ? dependenciesOf(key) : []),
    );
    const message = new pb.TransformRequest()
      .setName(request.getName())
      .setType(request.getType())
      .setCustom(request.getCustom())
      .setParent(request.getParent())
      .setProperties(toStruct(given))
      .setOptions(options);
    for (const transform of all) {
      const response = await this.callBack(transform, message);
      message.setProperties(response.getProperties() ?? message.getProperties());
      message.setOptions(response.getOptions() ?? message.getOptions());
    }
    const transformed = message.getOptions() ?? options;
    const properties = message.getProperties()?.toJavaScript() ?? {};
    request.setObject(message.getProperties());
    if (isTracked) {
      dependencies.clear();
      request.setDependenciesList([...transformed.getDependsOnList(), ...dependenciesIn(properties)]);
    }
    for (const [key, value] of Object.entries(properties)) {
      const urns = isTracked ? dependenciesIn(value) : dependenciesOf(key);
      dependencies.set(key, new pb.RegisterResourceRequest.PropertyDependencies().setUrnsList(urns));
    }
    return transformed;
  }

  close(): void {
    for (const client of this.clients.values()) client.close();
  }

  private async callBack(transform: Callback, message: pb.TransformRequest): Promise<pb.TransformResponse> {
    const target = transform.getTarget();
    const client = this.clients.get(target) ?? new CallbacksClient(target, insecure(), CHANNEL);
    this.clients.set(target, client);
    const request = new CallbackInvokeRequest().setToken(transform.getToken());
    request.setRequest(message.serializeBinary());
    try {
      const answer = await call<CallbackInvokeResponse>((done) => client.invoke(request, done));
      return pb.TransformResponse.deserializeBinary(answer.getResponse_asU8());
    } catch (error) {
      throw new TransformFailed(`invoke transform: rpc error: code = Unknown desc = ${messageOf(error)}`);
    }
  }
}

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
