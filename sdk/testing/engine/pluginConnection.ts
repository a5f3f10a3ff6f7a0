import type { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import * as rpc from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as pb from "@pulumi/pulumi/proto/provider_pb";
import { Empty, insecure } from "../../../provider/plugin/protocol";
import {
  CHANNEL,
  call,
  diffOf,
  diffRequest,
  failuresOf,
  identify,
  marked,
  optional,
  read,
  struct,
} from "./pluginMessages";
import type { Checked, DiffSubject, ProviderDiff } from "./provider";
import { providerPackage, typeOf } from "./resourceState";
import { containsUnknowns, type Props } from "./values";
import { ALL, type Keep, NONE, propsToWire } from "./wire";

/** What the plugin has said that it can do; as `pluginProtocol`. */
interface Protocol extends Keep {
  previews: boolean;
}

/** The connection to one provider process: what it can do, and what it is configured with. */
export class PluginConnection {
  protected readonly client: rpc.ResourceProviderClient;
  private protocol: Protocol | undefined;
  /** Kept when `configure` has been answered; holds whether the configuration was known. As `configSource`. */
  private configured: Promise<boolean> = Promise.reject(new Error("the provider is not configured yet"));

  constructor(port: number) {
    const address = `127.0.0.1:${port}`;
    this.client = new rpc.ResourceProviderClient(address, insecure(), CHANNEL);
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

  /** Asks the provider to finish what it is at and to begin nothing; as `SignalCancellation`. */
  async cancel(): Promise<void> {
    await optional(call<Empty>((answer) => this.client.cancel(new Empty(), answer)));
  }

  /** As `getPluginConfig`. */
  protected async ready(): Promise<{ known: boolean; keep: Keep; previews: boolean }> {
    const known = await this.configured;
    const { previews = false, ...keep } = this.protocol ?? { ...NONE, previews: false };
    return { known, keep, previews };
  }

  /** What a provider that knows nothing of secrets has given back has those marks that its inputs had. */
  protected remember(outs: Props, ins: Props): Props {
    return this.protocol?.secrets ? outs : marked(outs, ins);
  }
}
