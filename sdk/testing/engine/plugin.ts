import * as grpc from "@grpc/grpc-js";
import * as rpc from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as pb from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { parsePath } from "../../../provider/document";
import { Empty, insecure } from "../../../provider/plugin/protocol";
import { nameOf, type ResourceState, typeOf } from "./checkpoint";
import { Unsupported } from "./project";
import {
  ALL,
  fromStruct,
  hasSecrets,
  hasUnknowns,
  type Keep,
  markSecrets,
  NONE,
  type Props,
  plain,
  secret,
  toStruct,
} from "./properties";
import type { Diff, Kind } from "./propertyDiff";

/**
 * What serves a resource: the client of a provider process or, for the providers themselves, which are resources too,
 * `Providers`.
 */
export interface Provider {
  check(urn: string, olds: Props, news: Props): Promise<Checked>;
  diff(old: Existing, news: Props, ignoreChanges: string[]): Promise<Diff>;
  create(next: ResourceState, preview: boolean): Promise<{ id: string; outputs: Props }>;
  update(old: ResourceState, next: ResourceState, preview: boolean): Promise<Props>;
  read(resource: ToRead): Promise<Found>;
  delete(old: ResourceState): Promise<void>;
}

export interface CheckFailure {
  property: string;
  reason: string;
}

export interface Checked {
  inputs: Props;
  failures: CheckFailure[];
}

/** What there is of a resource before a change. */
export type Existing = Pick<ResourceState, "urn" | "id" | "inputs"> & { outputs?: Props | undefined };

/** Of what is to be imported, no more is known than the id. */
export type ToRead = Pick<ResourceState, "urn" | "id"> & { inputs?: Props; outputs?: Props | undefined };

/** `outputs` is undefined where the provider gave none, `inputs` where it left them as they are. */
export interface Found {
  id: string;
  outputs: Props | undefined;
  inputs: Props | undefined;
}

/** The answer of a function of the package. */
export interface Invoked {
  result: Props;
  failures: CheckFailure[];
}

/** A resource that exists, with an id, and is not ready. */
export class InitFailed extends Error {
  override readonly name = "InitFailed";
  constructor(
    readonly id: string,
    readonly outputs: Props,
    readonly inputs: Props | undefined,
    readonly reasons: string[],
  ) {
    const errors = `${reasons.length} error${reasons.length === 1 ? "" : "s"} occurred`;
    super(`${errors}:\n${reasons.map((reason) => `\t* ${reason}`).join("\n")}\n\n`);
  }
}

/** Messages hold whole states, which outgrow the four megabytes that gRPC allows by default. */
export const CHANNEL = { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 };

/**
 * The client of one provider process. To a provider that takes no secrets they go as what they hold, and are marked
 * again in what comes back.
 */
export class Plugin implements Provider {
  private readonly client: rpc.ResourceProviderClient;
  private keep = NONE;
  private previews = false;
  /** Kept when the process is configured. */
  private configured: Promise<unknown> = Promise.resolve();

  constructor(
    port: number,
    readonly package_: string,
  ) {
    this.client = new rpc.ResourceProviderClient(`127.0.0.1:${port}`, insecure(), CHANNEL);
  }

  close(): void {
    this.client.close();
  }

  /** Asks a plugin what it can do. Pulumi's host of dynamic providers is not asked: it takes plain values only. */
  async handshake(engineAddress: string, folder: string, limit: number): Promise<void> {
    const request = new pb.ProviderHandshakeRequest()
      .setEngineAddress(engineAddress)
      .setRootDirectory(folder)
      .setProgramDirectory(folder)
      .setConfigureWithUrn(true)
      .setInvokeWithPreview(true);
    const response = await optional(
      call<pb.ProviderHandshakeResponse>((answer) =>
        this.client.handshake(request, new grpc.Metadata(), { deadline: Date.now() + limit }, answer),
      ),
    );
    if (!response) throw new Unsupported(`plugins without a handshake (${this.package_} in ${folder})`);
    this.keep = { secrets: response.getAcceptSecrets(), references: response.getAcceptResources() };
    this.previews = true;
  }

  /** A provider without such a method takes every configuration. */
  async checkConfig(urn: string, olds: Props, news: Props): Promise<Checked> {
    const request = about(new pb.CheckRequest(), urn)
      .setOlds(toStruct(olds, NONE))
      .setNews(toStruct(news, NONE));
    const response = await optional(
      call<pb.CheckResponse>((answer) => this.client.checkConfig(request, answer)),
    );
    if (!response) return { inputs: news, failures: [] };
    return { inputs: markSecrets(fromStruct(response.getInputs()), news), failures: failuresOf(response) };
  }

  async diffConfig(old: Existing, news: Props): Promise<Diff> {
    const request = diffRequest(old, news, [], NONE);
    const response = await optional(
      call<pb.DiffResponse>((answer) => this.client.diffConfig(request, answer)),
    );
    return diffOf(response ?? new pb.DiffResponse());
  }

  /** Every later call waits for this, and fails with it. */
  configure(urn: string, id: string, config: Props): void {
    this.configured = this.sendConfiguration(urn, id, config);
    this.configured.catch(() => {});
  }

  private async sendConfiguration(urn: string, id: string, config: Props): Promise<void> {
    if (hasUnknowns(config))
      throw new Unsupported(`previews with a provider whose configuration is not known yet (${nameOf(urn)})`);
    const request = about(new pb.ConfigureRequest(), urn)
      .setId(id)
      .setArgs(toStruct(config, ALL))
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

  /** Asks the provider to finish what it is at and to begin nothing. */
  async cancel(): Promise<void> {
    await optional(call<Empty>((answer) => this.client.cancel(new Empty(), answer)));
  }

  async check(urn: string, olds: Props, news: Props): Promise<Checked> {
    await this.configured;
    const request = about(new pb.CheckRequest(), urn).setOlds(this.struct(olds)).setNews(this.struct(news));
    const response = await call<pb.CheckResponse>((answer) => this.client.check(request, answer));
    return { inputs: this.marked(response.getInputs(), news), failures: failuresOf(response) };
  }

  async diff(old: Existing, news: Props, ignoreChanges: string[]): Promise<Diff> {
    await this.configured;
    const request = diffRequest(old, news, ignoreChanges, this.keep);
    return diffOf(await call<pb.DiffResponse>((answer) => this.client.diff(request, answer)));
  }

  /** In a preview, a provider without previews of its own makes known what goes in. */
  async create({ urn, inputs }: ResourceState, preview: boolean): Promise<{ id: string; outputs: Props }> {
    await this.configured;
    if (preview && !this.previews) return { id: "", outputs: { ...inputs } };
    const request = about(new pb.CreateRequest(), urn).setProperties(this.struct(inputs)).setPreview(preview);
    const response = await this.change<pb.CreateResponse>(inputs, (answer) =>
      this.client.create(request, answer),
    );
    const id = response.getId();
    if (id === "" && !preview) throw new Error(`plugin returned empty resource.ID from create '${urn}'`);
    return { id, outputs: this.marked(response.getProperties(), inputs) };
  }

  async update(old: ResourceState, next: ResourceState, preview: boolean): Promise<Props> {
    await this.configured;
    if (preview && !this.previews) return { ...next.inputs };
    const request = about(new pb.UpdateRequest(), next.urn)
      .setId(old.id)
      .setOldInputs(this.struct(old.inputs))
      .setOlds(this.struct(old.outputs))
      .setNews(this.struct(next.inputs))
      .setIgnorechangesList(next.ignoreChanges)
      .setPreview(preview);
    const response = await this.change<pb.UpdateResponse>(next.inputs, (answer) =>
      this.client.update(request, answer),
    );
    return this.marked(response.getProperties(), next.inputs);
  }

  async read({ urn, id, inputs, outputs }: ToRead): Promise<Found> {
    await this.configured;
    const request = about(new pb.ReadRequest(), urn).setId(id);
    if (inputs) request.setInputs(this.struct(inputs)).setProperties(this.struct(outputs));
    const response = await this.change<pb.ReadResponse>(outputs ?? {}, (answer) =>
      this.client.read(request, answer),
    );
    const [properties, liveInputs] = [response.getProperties(), response.getInputs()];
    return {
      id: response.getId(),
      outputs: properties && this.marked(properties, outputs ?? {}),
      inputs: liveInputs && this.marked(liveInputs, inputs ?? {}),
    };
  }

  async delete({ urn, id, inputs, outputs }: ResourceState): Promise<void> {
    await this.configured;
    const request = about(new pb.DeleteRequest(), urn)
      .setId(id)
      .setOldInputs(this.struct(inputs))
      .setProperties(this.struct(outputs));
    await call<Empty>((answer) => this.client.delete(request, answer));
  }

  async invoke(token: string, args: Props, preview: boolean): Promise<Invoked> {
    await this.configured;
    const request = new pb.InvokeRequest().setTok(token).setArgs(this.struct(args)).setPreview(preview);
    const response = await call<pb.InvokeResponse>((answer) => this.client.invoke(request, answer));
    const result = fromStruct(response.getReturn());
    // Which part of the answer comes from the secret is not known.
    if (hasSecrets(args) && !this.keep.secrets)
      for (const [key, value] of Object.entries(result)) result[key] = secret(value);
    return { result, failures: failuresOf(response) };
  }

  private struct(props: Props = {}) {
    return toStruct(props, this.keep);
  }

  private marked(outs: pb.CheckResponse["getInputs"] extends () => infer S ? S : never, ins: Props): Props {
    return this.keep.secrets ? fromStruct(outs) : markSecrets(fromStruct(outs), ins);
  }

  /** A call whose error may carry a resource that exists and is not ready. */
  private change<T>(ins: Props, send: (answer: Answer<T>) => unknown): Promise<T> {
    return new Promise((resolve, reject) => {
      send((error, response) => {
        if (error === null) return resolve(response);
        const failed = initFailure(error);
        if (!failed) return reject(new Error(error.details));
        const [inputs, outputs] = [failed.getInputs(), this.marked(failed.getProperties(), ins)];
        reject(
          new InitFailed(
            failed.getId(),
            outputs,
            inputs && this.marked(inputs, ins),
            failed.getReasonsList(),
          ),
        );
      });
    });
  }
}

type Answer<T> = (error: grpc.ServiceError | null, response: T) => void;

/** An error of the protocol. */
class CallFailed extends Error {
  override readonly name = "CallFailed";
  constructor(
    { details }: grpc.ServiceError,
    readonly code: grpc.status,
  ) {
    super(details);
  }
}

function call<T>(send: (answer: Answer<T>) => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    send((error, response) =>
      error === null ? resolve(response) : reject(new CallFailed(error, error.code)),
    );
  });
}

/** Undefined where the provider does not have the method. */
async function optional<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof CallFailed && error.code === grpc.status.UNIMPLEMENTED) return undefined;
    throw error;
  }
}

function initFailure(error: grpc.ServiceError): pb.ErrorResourceInitFailed | undefined {
  const [packed] = error.metadata.get("grpc-status-details-bin");
  if (!Buffer.isBuffer(packed)) return undefined;
  const details = Status.deserializeBinary(packed).getDetailsList();
  const read = pb.ErrorResourceInitFailed.deserializeBinary;
  const found = details.map((detail) => detail.unpack(read, "pulumirpc.ErrorResourceInitFailed"));
  return found.find((failed) => failed !== null) ?? undefined;
}

interface AboutResource {
  setUrn(urn: string): unknown;
  setName(name: string): unknown;
  setType(type: string): unknown;
}

/** Names the resource that a request is about. */
function about<R extends AboutResource>(request: R, urn: string): R {
  request.setUrn(urn);
  request.setName(nameOf(urn));
  request.setType(typeOf(urn));
  return request;
}

function diffRequest(
  { urn, id, inputs, outputs = {} }: Existing,
  news: Props,
  ignoreChanges: string[],
  keep: Keep,
): pb.DiffRequest {
  return about(new pb.DiffRequest(), urn)
    .setId(id)
    .setOldInputs(toStruct(inputs, keep))
    .setOlds(toStruct(outputs, keep))
    .setNews(toStruct(news, keep))
    .setIgnorechangesList(ignoreChanges);
}

const { ADD, ADD_REPLACE, DELETE, DELETE_REPLACE, UPDATE_REPLACE } = pb.PropertyDiff.Kind;

function diffOf(response: pb.DiffResponse): Diff {
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
          inputDiff: diff.getInputdiff(),
        }))
      : undefined,
  };
}

function kindOf(kind: pb.PropertyDiff.Kind): Kind {
  if (kind === ADD || kind === ADD_REPLACE) return "add";
  return kind === DELETE || kind === DELETE_REPLACE ? "delete" : "update";
}

function failuresOf(response: { getFailuresList(): pb.CheckFailure[] }): CheckFailure[] {
  return response
    .getFailuresList()
    .map((each) => ({ property: each.getProperty(), reason: each.getReason() }));
}
