import * as grpc from "@grpc/grpc-js";
import * as rpc from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as pb from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Empty, insecure } from "../../../provider/pulumi/grpc";
import { hasUnknown } from "../../../provider/pulumi/sentinels";
import { type Props, parsePath, plain } from "../../pulumi-cli/index";
import { Unsupported } from "../errors";
import { markSecrets } from "../properties";
import { nameInUrn, type ResourceState, typeInUrn } from "./checkpoint";
import type { Diff, Kind } from "./propertyDiff";
import { CHANNEL, fromStruct, toStruct } from "./protocol";

/**
 * The provider of a resource: `Plugin` (the client of a provider process), `MockedProvider`, or `Providers` (for resources that
 * are providers themselves).
 */
export interface ResourceProvider {
  check(urn: string, olds: Props, news: Props): Promise<CheckResult>;
  diff(old: ResourceState, news: Props, ignoreChanges: string[]): Promise<Diff>;
  create(next: ResourceState, preview: boolean): Promise<{ id: string; outputs: Props }>;
  update(old: ResourceState, next: ResourceState, preview: boolean): Promise<Props>;
  read(resource: ResourceToRead): Promise<ReadResult>;
  delete(old: ResourceState): Promise<void>;
}

export interface CheckResult {
  inputs: Props;
  failures: pb.CheckFailure.AsObject[];
}

/** A resource to read. For an import, only the id is known. */
export type ResourceToRead = Pick<ResourceState, "urn" | "id"> & {
  inputs?: Props;
  outputs?: Props | undefined;
  external?: boolean;
};

export interface ReadResult {
  /** Empty if the resource does not exist. */
  id: string;
  /** Undefined if the resource does not exist. */
  outputs: Props | undefined;
  /** Undefined if the provider returned no inputs. */
  inputs: Props | undefined;
}

/** The error of a create or update that succeeded in part. The resource exists, and the next update repairs it. */
export class PartialFailure extends Error {
  override readonly name = "PartialFailure";
  constructor(
    readonly id: string,
    readonly outputs: Props,
    readonly reasons: string[],
  ) {
    super(reasons.join("; "));
  }
}

/** The package of dynamic providers, whose process is part of the SDK. */
export const DYNAMIC = "pulumi-nodejs";

/** The client of a provider process. */
export class Plugin implements ResourceProvider {
  private readonly client: rpc.ResourceProviderClient;
  /** Whether this is the process of dynamic providers. It accepts no secrets and previews, so secrets are marked here. */
  private readonly isDynamic: boolean;
  private configured: Promise<unknown> = Promise.resolve();

  constructor(
    port: number,
    readonly package_: string,
  ) {
    this.isDynamic = package_ === DYNAMIC;
    this.client = new rpc.ResourceProviderClient(`127.0.0.1:${port}`, insecure(), CHANNEL);
  }

  close(): void {
    this.client.close();
  }

  /** @throws Unsupported if the plugin does not support secrets or references. */
  async handshake(engineAddress: string, folder: string, limit: number): Promise<void> {
    const request = new pb.ProviderHandshakeRequest()
      .setEngineAddress(engineAddress)
      .setRootDirectory(folder)
      .setProgramDirectory(folder)
      .setConfigureWithUrn(true)
      .setInvokeWithPreview(true);
    const response = await tryCall<pb.ProviderHandshakeResponse>((answer) =>
      this.client.handshake(request, new grpc.Metadata(), { deadline: Date.now() + limit }, answer),
    );
    if (!response) throw new Unsupported(`plugins without a handshake (${this.package_} in ${folder})`);
    if (!response.getAcceptSecrets() || !response.getAcceptResources())
      throw new Unsupported(
        `plugins that do not accept secrets or references (${this.package_} in ${folder})`,
      );
  }

  /** Checks a configuration. A provider without this method accepts any configuration. */
  async checkConfig(urn: string, olds: Props, news: Props): Promise<CheckResult> {
    const request = forUrn(new pb.CheckRequest(), urn).setOlds(plainStruct(olds)).setNews(plainStruct(news));
    const response = await tryCall<pb.CheckResponse>((answer) => this.client.checkConfig(request, answer));
    if (!response) return { inputs: news, failures: [] };
    return { inputs: markSecrets(fromStruct(response.getInputs()), news), failures: failuresOf(response) };
  }

  async diffConfig(old: ResourceState, news: Props): Promise<Diff> {
    const request = diffRequest(old, news, [], plainStruct);
    const response = await tryCall<pb.DiffResponse>((answer) => this.client.diffConfig(request, answer));
    return diffFromResponse(response ?? new pb.DiffResponse());
  }

  /** Starts to configure the provider. Later calls wait for the end, and fail if this fails. */
  configure(urn: string, id: string, config: Props): void {
    this.configured = this.sendConfiguration(urn, id, config);
    this.configured.catch(() => {});
  }

  private async sendConfiguration(urn: string, id: string, config: Props): Promise<void> {
    if (hasUnknown(config))
      throw new Unsupported(
        `previews with a provider whose configuration is not known yet (${nameInUrn(urn)})`,
      );
    const request = forUrn(new pb.ConfigureRequest(), urn)
      .setId(id)
      .setArgs(toStruct(config))
      .setAcceptsecrets(true)
      .setAcceptresources(true)
      .setSendsOldInputs(true)
      .setSendsOldInputsToDelete(true);
    for (const [key, value] of Object.entries(plain(config)))
      request
        .getVariablesMap()
        .set(`${this.package_}:config:${key}`, typeof value === "string" ? value : JSON.stringify(value));
    await call<pb.ConfigureResponse>((answer) => this.client.configure(request, answer));
  }

  /** Asks the provider to finish its operations and to start no other operation. */
  async cancel(): Promise<void> {
    await tryCall<Empty>((answer) => this.client.cancel(new Empty(), answer));
  }

  async check(urn: string, olds: Props, news: Props): Promise<CheckResult> {
    await this.configured;
    const request = forUrn(new pb.CheckRequest(), urn).setOlds(this.struct(olds)).setNews(this.struct(news));
    const response = await call<pb.CheckResponse>((answer) => this.client.check(request, answer));
    return { inputs: this.unpack(response.getInputs(), news), failures: failuresOf(response) };
  }

  async diff(old: ResourceState, news: Props, ignoreChanges: string[]): Promise<Diff> {
    await this.configured;
    const request = diffRequest(old, news, ignoreChanges, (props) => this.struct(props));
    return diffFromResponse(await call<pb.DiffResponse>((answer) => this.client.diff(request, answer)));
  }

  /** Creates a resource. If the provider does not support previews, the planned outputs are the inputs. */
  async create({ urn, inputs }: ResourceState, preview: boolean): Promise<{ id: string; outputs: Props }> {
    await this.configured;
    if (preview && this.isDynamic) return { id: "", outputs: { ...inputs } };
    const request = forUrn(new pb.CreateRequest(), urn)
      .setProperties(this.struct(inputs))
      .setPreview(preview);
    const response = await call<pb.CreateResponse>((answer) => this.client.create(request, answer)).catch(
      this.partial(inputs),
    );
    const id = response.getId();
    if (id === "" && !preview) throw new Error(`plugin returned empty resource.ID from create '${urn}'`);
    return { id, outputs: this.unpack(response.getProperties(), inputs) };
  }

  async update(old: ResourceState, next: ResourceState, preview: boolean): Promise<Props> {
    await this.configured;
    if (preview && this.isDynamic) return { ...next.inputs };
    const request = forUrn(new pb.UpdateRequest(), next.urn)
      .setId(old.id)
      .setOldInputs(this.struct(old.inputs))
      .setOlds(this.struct(old.outputs))
      .setNews(this.struct(next.inputs))
      .setIgnorechangesList(next.ignoreChanges)
      .setPreview(preview);
    const response = await call<pb.UpdateResponse>((answer) => this.client.update(request, answer)).catch(
      this.partial(next.inputs),
    );
    return this.unpack(response.getProperties(), next.inputs);
  }

  async read({ urn, id, inputs, outputs }: ResourceToRead): Promise<ReadResult> {
    await this.configured;
    const request = forUrn(new pb.ReadRequest(), urn).setId(id);
    if (inputs) request.setInputs(this.struct(inputs)).setProperties(this.struct(outputs));
    const response = await call<pb.ReadResponse>((answer) => this.client.read(request, answer)).catch(
      (error: unknown) => {
        throw partialFailureIn(error) ? new Unsupported("reads of resources that are not ready") : error;
      },
    );
    const [properties, liveInputs] = [response.getProperties(), response.getInputs()];
    return {
      id: response.getId(),
      outputs: properties && this.unpack(properties, outputs ?? {}),
      inputs: liveInputs && this.unpack(liveInputs, inputs ?? {}),
    };
  }

  async delete({ urn, id, inputs, outputs }: ResourceState): Promise<void> {
    await this.configured;
    const request = forUrn(new pb.DeleteRequest(), urn)
      .setId(id)
      .setOldInputs(this.struct(inputs))
      .setProperties(this.struct(outputs));
    await call<Empty>((answer) => this.client.delete(request, answer));
  }

  async invoke(token: string, args: Props, preview: boolean): Promise<pb.InvokeResponse> {
    await this.configured;
    const request = new pb.InvokeRequest().setTok(token).setArgs(this.struct(args)).setPreview(preview);
    return call<pb.InvokeResponse>((answer) => this.client.invoke(request, answer));
  }

  /** A handler for `catch` that turns the provider's report of a partial success into a `PartialFailure`. */
  private partial(ins: Props): (error: unknown) => never {
    return (error) => {
      const done = partialFailureIn(error);
      if (!done) throw error;
      throw new PartialFailure(done.getId(), this.unpack(done.getProperties(), ins), done.getReasonsList());
    };
  }

  private struct(props: Props = {}) {
    return this.isDynamic ? plainStruct(props) : toStruct(props);
  }

  private unpack(outs: pb.CheckResponse["getInputs"] extends () => infer S ? S : never, ins: Props): Props {
    return this.isDynamic ? markSecrets(fromStruct(outs), ins) : fromStruct(outs);
  }
}

const plainStruct = (props: Props) => toStruct(plain(props));

type Callback<T> = (error: grpc.ServiceError | null, response: T) => void;

class CallFailed extends Error {
  override readonly name = "CallFailed";
  constructor(override readonly cause: grpc.ServiceError) {
    super(cause.details);
  }
}

function call<T>(send: (answer: Callback<T>) => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    send((error, response) => (error === null ? resolve(response) : reject(new CallFailed(error))));
  });
}

/** The report of a partial success in a provider's error. Undefined for any other error. */
function partialFailureIn(error: unknown): pb.ErrorResourceInitFailed | undefined {
  if (!(error instanceof CallFailed)) return undefined;
  const [details] = error.cause.metadata.get("grpc-status-details-bin");
  if (!Buffer.isBuffer(details)) return undefined;
  const read = pb.ErrorResourceInitFailed.deserializeBinary;
  const found = Status.deserializeBinary(details)
    .getDetailsList()
    .find((detail) => detail.getTypeName() === "pulumirpc.ErrorResourceInitFailed");
  return found?.unpack(read, "pulumirpc.ErrorResourceInitFailed") ?? undefined;
}

/** Calls a provider's method. Undefined if the provider does not implement it. */
async function tryCall<T>(send: (answer: Callback<T>) => unknown): Promise<T | undefined> {
  try {
    return await call(send);
  } catch (error) {
    if (error instanceof CallFailed && error.cause.code === grpc.status.UNIMPLEMENTED) return undefined;
    throw error;
  }
}

interface ResourceRequest {
  setUrn(urn: string): unknown;
  setName(name: string): unknown;
  setType(type: string): unknown;
}

function forUrn<R extends ResourceRequest>(request: R, urn: string): R {
  request.setUrn(urn);
  request.setName(nameInUrn(urn));
  request.setType(typeInUrn(urn));
  return request;
}

function diffRequest(
  { urn, id, inputs, outputs = {} }: ResourceState,
  news: Props,
  ignoreChanges: string[],
  struct: typeof toStruct,
): pb.DiffRequest {
  return forUrn(new pb.DiffRequest(), urn)
    .setId(id)
    .setOldInputs(struct(inputs))
    .setOlds(struct(outputs))
    .setNews(struct(news))
    .setIgnorechangesList(ignoreChanges);
}

const { ADD, ADD_REPLACE, DELETE, DELETE_REPLACE, UPDATE_REPLACE } = pb.PropertyDiff.Kind;

function diffFromResponse(response: pb.DiffResponse): Diff {
  const detailed = [...(response.getDetaileddiffMap().entries() as Iterable<[string, pb.PropertyDiff]>)];
  return {
    changes: (["unknown", "none", "some"] as const)[response.getChanges()],
    replaces: response.getReplacesList(),
    changedKeys: response.getDiffsList(),
    deleteBeforeReplace: response.getDeletebeforereplace(),
    detailed: response.getHasdetaileddiff()
      ? detailed.map(([path, diff]) => ({
          path: parsePath(path) ?? [path],
          kind: kindOf(diff.getKind()),
          replace: [ADD_REPLACE, DELETE_REPLACE, UPDATE_REPLACE].some((kind) => kind === diff.getKind()),
        }))
      : undefined,
  };
}

function kindOf(kind: pb.PropertyDiff.Kind): Kind {
  if (kind === ADD || kind === ADD_REPLACE) return "add";
  return kind === DELETE || kind === DELETE_REPLACE ? "delete" : "update";
}

const failuresOf = (response: { getFailuresList(): pb.CheckFailure[] }) =>
  response.getFailuresList().map((each) => each.toObject());
