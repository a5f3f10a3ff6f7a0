import * as pb from "@pulumi/pulumi/proto/provider_pb";
import { PluginConnection } from "./pluginConnection";
import {
  type Answer,
  call,
  diffOf,
  diffRequest,
  failuresOf,
  identify,
  initFailure,
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
import type { ResourceState } from "./resourceState";
import { containsSecrets, type Props, secret } from "./values";

/** The answer of a function of the package. */
export interface Invoked {
  result: Props;
  failures: CheckFailure[];
}

/**
 * The client of one provider process. Where a provider does not accept secrets, they go in as what they hold and are
 * marked again in what comes back; see `annotateSecrets` in the plugin package.
 */
export class PluginClient extends PluginConnection implements Provider {
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
