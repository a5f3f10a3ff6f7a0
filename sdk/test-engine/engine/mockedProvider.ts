import { InvokeResponse } from "@pulumi/pulumi/proto/provider_pb";
import { Unsupported } from "../errors";
import { completeMocks, type PartialMocks } from "../packageMocks";
import { containsSecret, fromSecretForm, markSecrets, type Props, plain, rebuilt } from "../properties";
import type { StackOptions } from "../types";
import { nameInUrn, type ResourceState, typeInUrn } from "./checkpoint";
import type { Diff } from "./propertyDiff";
import { toStruct } from "./protocol";
import type { CheckResult, Found, Plugin, ResourceProvider, ToRead } from "./providerCalls";

/** The package of the engine's own resources. */
export const BUILT_IN = "pulumi";

/** Answers `StackReference`, the only built-in resource that the engine supports, from a table of other stacks' outputs. */
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

/** A provider that resources can refer to. */
export type RunningProvider = ResourceProvider &
  Pick<Plugin, "checkConfig" | "diffConfig" | "configure" | "invoke">;

/**
 * A provider without a process: mocks answer it. Like the simplest plugin, it takes no secrets and no previews, and does not
 * compare: any changed input is an update, which asks the mocks again. A refresh changes nothing.
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

  async read(resource: ToRead): Promise<Found> {
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

/** Leaves out undefined values, which the protocol cannot hold. */
const asProps = (values: object) => rebuilt(values, (signed) => signed) as Props;
