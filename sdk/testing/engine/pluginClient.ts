import * as grpc from "@grpc/grpc-js";
import type { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import * as rpc from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as pb from "@pulumi/pulumi/proto/provider_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import {
  type Answer,
  CHANNEL,
  call,
  diffOf,
  diffRequest,
  failuresOf,
  identify,
  initFailure,
  marked,
  optional,
  read,
  struct,
} from "./pluginMessages";
import {
  type Checked,
  type CheckFailure,
  type DiffSubject,
  DiffUnavailable,
  type Provider,
  type ProviderDiff,
  type ReadRequest,
  type ReadResult,
} from "./provider";
import { providerPackage, type ResourceState, typeOf } from "./resourceState";
import { containsSecrets, containsUnknowns, type Props, secret } from "./values";
import { ALL, type Keep, NONE, propsToWire } from "./wire";

/** What the plugin has said that it can do; as `pluginProtocol`. */
interface Protocol extends Keep {
  previews: boolean;
}

/** The answer of a function of the package. */
export interface Invoked {
  result: Props;
  failures: CheckFailure[];
}

/**
 * The client of one provider process. Where a provider does not accept secrets, they go in as what they hold and are
 * marked again in what comes back; see `annotateSecrets` in the plugin package.
 */
export class PluginClient implements Provider {
  private readonly client: rpc.ResourceProviderClient;
  private protocol: Protocol | undefined;
  /** Kept when `configure` has been answered; holds whether the configuration was known. As `configSource`. */
  private configured: Promise<boolean> = Promise.reject(new Error("the provider is not configured yet"));

  constructor(port: number) {
    const address = `127.0.0.1:${port}`;
    this.client = new rpc.ResourceProviderClient(address, grpc.credentials.createInsecure(), CHANNEL);
    this.configured.catch(() => {});
  }

  close(): void {
    this.client.close();
  }

  /** A plugin that does not know of it tells in `Configure` what it can do; as `handshake`. */
  async handshake(engineAddress: string, folder: string): Promise<void> {
    const request = new pb.ProviderHandshakeRequest();
    request.setEngineAddress(engineAddress);
    request.setRootDirectory(folder);
    request.setProgramDirectory(folder);
    request.setConfigureWithUrn(true);
    request.setInvokeWithPreview(true);
    const response = await optional(
      call<pb.ProviderHandshakeResponse>((answer) => this.client.handshake(request, answer)),
    );
    if (response)
      this.protocol = {
        secrets: response.getAcceptSecrets(),
        references: response.getAcceptResources(),
        previews: true,
      };
  }

  /** The plugin's version. Every plugin has to answer. */
  async getPluginInfo(): Promise<string> {
    const info = await call<PluginInfo>((answer) => this.client.getPluginInfo(new Empty(), answer));
    return info.getVersion();
  }

  /** A plugin without such a method takes every configuration; as `CheckConfig`. */
  async checkConfig(urn: string, olds: Props, news: Props): Promise<Checked> {
    const request = new pb.CheckRequest();
    identify(request, urn);
    request.setOlds(struct(olds, NONE));
    request.setNews(struct(news, NONE));
    const response = await optional(
      call<pb.CheckResponse>((answer) => this.client.checkConfig(request, answer)),
    );
    if (!response) return { inputs: news, failures: [] };
    return { inputs: marked(read(response.getInputs()), news), failures: failuresOf(response) };
  }

  /** A plugin without such a method never asks for a replacement; as `DiffConfig`. */
  async diffConfig(subject: DiffSubject, news: Props): Promise<ProviderDiff> {
    const request = diffRequest(subject, news, NONE);
    const response = await optional(
      call<pb.DiffResponse>((answer) => this.client.diffConfig(request, answer)),
    );
    if (response) return diffOf(response);
    return {
      changes: "unknown",
      replaces: [],
      changedKeys: [],
      deleteBeforeReplace: false,
      detailed: undefined,
    };
  }

  /**
   * Returns at once: whoever needs the plugin waits, and hears of a failure. With a value that is not known yet the
   * plugin is not asked for anything. As `Configure`.
   */
  configure(urn: string, id: string, config: Props): void {
    if (Object.entries(config).some(([key, value]) => key !== "version" && containsUnknowns(value))) {
      this.protocol ??= { ...NONE, previews: false };
      this.configured = Promise.resolve(false);
      return;
    }
    this.configured = this.sendConfiguration(urn, id, config);
    this.configured.catch(() => {});
  }

  private async sendConfiguration(urn: string, id: string, config: Props): Promise<boolean> {
    const request = new pb.ConfigureRequest();
    identify(request, urn);
    request.setId(id);
    request.setArgs(struct(config, ALL));
    const package_ = providerPackage(typeOf(urn));
    for (const [key, value] of Object.entries(propsToWire(config, NONE)))
      if (key !== "version")
        request
          .getVariablesMap()
          .set(`${package_}:config:${key}`, typeof value === "string" ? value : JSON.stringify(value));
    request.setAcceptsecrets(true);
    request.setAcceptresources(true);
    request.setSendsOldInputs(true);
    request.setSendsOldInputsToDelete(true);
    const response = await call<pb.ConfigureResponse>((answer) => this.client.configure(request, answer));
    this.protocol ??= {
      secrets: response.getAcceptsecrets(),
      references: response.getAcceptresources(),
      previews: response.getSupportspreview(),
    };
    return true;
  }

  async check(urn: string, olds: Props, news: Props): Promise<Checked> {
    const { known, keep } = await this.ready();
    if (!known) return { inputs: news, failures: [] };
    const request = new pb.CheckRequest();
    identify(request, urn);
    request.setOlds(struct(olds, keep));
    request.setNews(struct(news, keep));
    const response = await call<pb.CheckResponse>((answer) => this.client.check(request, answer));
    return { inputs: this.remember(read(response.getInputs()), news), failures: failuresOf(response) };
  }

  async diff(subject: DiffSubject, news: Props): Promise<ProviderDiff> {
    const { known, keep } = await this.ready();
    if (!known) throw new DiffUnavailable();
    const request = diffRequest(subject, news, keep);
    return diffOf(await call<pb.DiffResponse>((answer) => this.client.diff(request, answer)));
  }

  /** In a preview, a provider without previews of its own makes known what goes in; as `Create`. */
  async create({ urn, inputs, customTimeouts }: ResourceState, preview: boolean) {
    const { known, keep, previews } = await this.ready();
    if (preview && !known) return { id: "", outputs: {} };
    if (preview && !previews) return { id: "", outputs: { ...inputs } };
    const request = new pb.CreateRequest();
    identify(request, urn);
    request.setProperties(struct(inputs, keep));
    request.setTimeout(customTimeouts.create ?? 0);
    request.setPreview(preview);
    const response = await this.change<pb.CreateResponse>(inputs, (answer) =>
      this.client.create(request, answer),
    );
    const id = response.getId();
    if (id === "" && !preview) throw new Error(`plugin returned empty resource.ID from create '${urn}'`);
    return { id, outputs: this.remember(read(response.getProperties()), inputs) };
  }

  async update(old: ResourceState, next: ResourceState, preview: boolean): Promise<Props> {
    const { known, keep, previews } = await this.ready();
    if (preview && !known) return {};
    if (preview && !previews) return { ...next.inputs };
    const request = new pb.UpdateRequest();
    identify(request, next.urn);
    request.setId(old.id);
    request.setOldInputs(struct(old.inputs, keep));
    request.setOlds(struct(old.outputs ?? {}, keep));
    request.setNews(struct(next.inputs, keep));
    request.setTimeout(next.customTimeouts.update ?? 0);
    request.setIgnorechangesList(next.ignoreChanges);
    request.setPreview(preview);
    const response = await this.change<pb.UpdateResponse>(next.inputs, (answer) =>
      this.client.update(request, answer),
    );
    return this.remember(read(response.getProperties()), next.inputs);
  }

  async read({ urn, id, inputs, state, timeout = 0 }: ReadRequest): Promise<ReadResult> {
    const { known, keep } = await this.ready();
    if (!known) return { id: "", outputs: {}, inputs: {} };
    const request = new pb.ReadRequest();
    identify(request, urn);
    request.setId(id);
    request.setTimeout(timeout);
    if (inputs) request.setInputs(struct(inputs, keep));
    if (state) request.setProperties(struct(state, keep));
    const response = await this.change<pb.ReadResponse>(state ?? {}, (answer) =>
      this.client.read(request, answer),
    );
    const [properties, liveInputs] = [response.getProperties(), response.getInputs()];
    return {
      id: response.getId(),
      outputs: properties && this.remember(read(properties), state ?? {}),
      inputs: liveInputs && this.remember(read(liveInputs), inputs ?? {}),
    };
  }

  async delete(old: ResourceState): Promise<void> {
    const { keep } = await this.ready();
    const request = new pb.DeleteRequest();
    identify(request, old.urn);
    request.setId(old.id);
    request.setOldInputs(struct(old.inputs, keep));
    request.setProperties(struct(old.outputs ?? {}, keep));
    request.setTimeout(old.customTimeouts.delete ?? 0);
    await call((answer: Answer<unknown>) => this.client.delete(request, answer));
  }

  async invoke(token: string, args: Props, preview: boolean): Promise<Invoked> {
    const { known, keep } = await this.ready();
    if (!known) return { result: {}, failures: [] };
    const request = new pb.InvokeRequest();
    request.setTok(token);
    request.setArgs(struct(args, keep));
    request.setPreview(preview);
    const response = await call<pb.InvokeResponse>((answer) => this.client.invoke(request, answer));
    const result = read(response.getReturn());
    // Which part of the answer tells of the secret is not known.
    if (containsSecrets(args) && !keep.secrets)
      for (const [key, value] of Object.entries(result)) result[key] = secret(value);
    return { result, failures: failuresOf(response) };
  }

  /** Asks the provider to finish what it is at and to begin nothing; as `SignalCancellation`. */
  async cancel(): Promise<void> {
    await optional(call<Empty>((answer) => this.client.cancel(new Empty(), answer)));
  }

  /** As `getPluginConfig`. */
  private async ready(): Promise<{ known: boolean; keep: Keep; previews: boolean }> {
    const known = await this.configured;
    const { previews = false, ...keep } = this.protocol ?? { ...NONE, previews: false };
    return { known, keep, previews };
  }

  /** What a provider that knows nothing of secrets has given back has those marks that its inputs had. */
  private remember(outs: Props, ins: Props): Props {
    return this.protocol?.secrets ? outs : marked(outs, ins);
  }

  /** A call whose error may carry a half-made resource; as `parseError`. */
  private change<T>(ins: Props, send: (answer: Answer<T>) => unknown): Promise<T> {
    return new Promise((resolve, reject) => {
      send((error, response) => {
        if (error === null) return resolve(response);
        reject(initFailure(error, (outs) => this.remember(outs, ins)) ?? new Error(error.details));
      });
    });
  }
}
