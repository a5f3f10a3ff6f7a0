import { InvokeResponse } from "@pulumi/pulumi/proto/provider_pb";
import { mapSigned } from "../../../provider/pulumi/sentinels";
import { containsSecret, type Props, plain } from "../../pulumi-cli/index";
import { Unsupported } from "../errors";
import { completeMocks, type PartialMocks } from "../packageMocks";
import { fromSecretForm, markSecrets } from "../properties";
import type { StackOptions } from "../types";
import { nameInUrn, type ResourceState, typeInUrn } from "./checkpoint";
import type { Diff } from "./propertyDiff";
import { toStruct } from "./protocol";
import type { CheckResult, Plugin, ReadResult, ResourceProvider, ResourceToRead } from "./providerCalls";

/** The package of the engine's own resources. */
export const BUILT_IN = "pulumi";

/** Mocks for `StackReference`, the only built-in resource that the engine supports. The table has the outputs of other stacks. */
export const stackReferences = (stacks: StackOptions["stackReferences"] = {}): PartialMocks => ({
  newResource({ id: name = "" }) {
    const found = stacks[name];
    if (!found) throw new Error(`unknown stack ${JSON.stringify(name)}`);
    const outputs = fromSecretForm(found);
    const secretOutputNames = Object.keys(outputs).filter((key) => containsSecret(outputs[key]));
    return { id: name, state: { name, outputs, secretOutputNames: secretOutputNames.sort() } };
  },
  call({ token }) {
    throw new Unsupported(`the function ${token}`);
  },
});

export type RunningProvider = ResourceProvider &
  Pick<Plugin, "checkConfig" | "diffConfig" | "configure" | "invoke">;

/**
 * A provider whose resources and functions come from mocks, without a process. Like the simplest plugin, it supports no secrets,
 * previews and diffs: any changed input is an update, which calls the mocks again. A refresh changes nothing.
 */
export class MockedProvider implements RunningProvider {
  private readonly mocks: ReturnType<typeof completeMocks>;

  constructor(mocks: PartialMocks) {
    this.mocks = completeMocks(mocks);
  }

  async checkConfig(_urn: string, _olds: Props, inputs: Props): Promise<CheckResult> {
    return { inputs, failures: [] };
  }

  configure(): void {}

  async check(_urn: string, _olds: Props, news: Props): Promise<CheckResult> {
    return { inputs: markSecrets(plain(news), news), failures: [] };
  }

  async diff(): Promise<Diff> {
    return { changes: "unknown", replaces: [], changedKeys: [], deleteBeforeReplace: false };
  }

  readonly diffConfig = this.diff;

  async create(next: ResourceState, preview: boolean): Promise<{ id: string; outputs: Props }> {
    return preview ? { id: "", outputs: next.inputs } : this.newResource(next);
  }

  async update(_old: ResourceState, next: ResourceState, preview: boolean): Promise<Props> {
    return preview ? next.inputs : (await this.newResource(next)).outputs;
  }

  async read(resource: ResourceToRead): Promise<ReadResult> {
    const { urn, id, inputs, outputs, external } = resource;
    if (!inputs) throw new Unsupported(`imports of resources without a provider (${nameInUrn(urn)})`);
    if (!external) return { id, outputs, inputs };
    return { inputs, ...(await this.newResource({ ...resource, inputs }, id)) };
  }

  async delete(): Promise<void> {}

  async invoke(token: string, args: Props): Promise<InvokeResponse> {
    const result = await this.mocks.call({ token, inputs: plain(args) });
    return new InvokeResponse().setReturn(toStruct(asProps(result)));
  }

  private async newResource({ urn, inputs }: Pick<ResourceState, "urn" | "inputs">, id = "") {
    const name = nameInUrn(urn);
    const args = { type: typeInUrn(urn), name, inputs: plain(inputs), custom: true, id };
    const made = await this.mocks.newResource(args);
    return { id: made.id || id || `${name}_id`, outputs: markSecrets(asProps(made.state), inputs) };
  }
}

/** The values without undefined, which the protocol cannot hold. */
const asProps = (values: object) => mapSigned(values, (signed) => signed) as Props;
