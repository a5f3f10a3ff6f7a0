import * as grpc from "@grpc/grpc-js";
import * as rpc from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as pb from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { nameOf, type ResourceState } from "./resourceState";
import { fromWire, isProps, markSecrets, type Props, propsToProvider, toProgram, type Value } from "./values";

/** A resource that exists, with an id, and is not ready; as `InitError`. */
export class InitFailed extends Error {
  override readonly name = "InitFailed";
  constructor(
    readonly id: string,
    readonly properties: Props,
    readonly inputs: Props | undefined,
    readonly reasons: string[],
  ) {
    const errors = `${reasons.length} error${reasons.length === 1 ? "" : "s"} occurred`;
    super(`${errors}:\n${reasons.map((reason) => `\t* ${reason}`).join("\n")}\n\n`);
  }
}

export interface CheckFailure {
  property: string;
  reason: string;
}

export interface ProviderDiff {
  changes: "unknown" | "none" | "some";
  replaces: string[];
  deleteBeforeReplace: boolean;
}

/** Messages hold whole states, which outgrow the four megabytes that gRPC allows by default. */
export const CHANNEL = { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 };

type Answer<T> = (error: grpc.ServiceError | null, response: T) => void;

/**
 * The client of one dynamic provider process. Secrets go in as what they hold and are marked again in what comes back,
 * as the real engine does for a provider that does not accept them; see `annotateSecrets` in the plugin package.
 */
export class Provider {
  private readonly client: rpc.ResourceProviderClient;

  constructor(port: number) {
    this.client = new rpc.ResourceProviderClient(
      `127.0.0.1:${port}`,
      grpc.credentials.createInsecure(),
      CHANNEL,
    );
  }

  close(): void {
    this.client.close();
  }

  /** The whole stack configuration under full keys, secrets wrapped: the host unwraps them itself. */
  async configure(config: Props): Promise<void> {
    const request = new pb.ConfigureRequest();
    request.setArgs(Struct.fromJavaScript(programStruct(config)));
    request.setAcceptsecrets(true);
    request.setAcceptresources(true);
    await call((answer: Answer<pb.ConfigureResponse>) => this.client.configure(request, answer));
  }

  async check(urn: string, olds: Props, news: Props): Promise<{ inputs: Props; failures: CheckFailure[] }> {
    const request = new pb.CheckRequest();
    identify(request, urn);
    request.setOlds(struct(olds));
    request.setNews(struct(news));
    const response = await call((answer: Answer<pb.CheckResponse>) => this.client.check(request, answer));
    const inputs = read(response.getInputs());
    markSecrets(inputs, news);
    const failures = response
      .getFailuresList()
      .map((each) => ({ property: each.getProperty(), reason: each.getReason() }));
    return { inputs, failures };
  }

  async diff(
    urn: string,
    id: string,
    oldInputs: Props,
    oldOutputs: Props,
    news: Props,
  ): Promise<ProviderDiff> {
    const request = new pb.DiffRequest();
    identify(request, urn);
    request.setId(id);
    request.setOldInputs(struct(oldInputs));
    request.setOlds(struct(oldOutputs));
    request.setNews(struct(news));
    const response = await call((answer: Answer<pb.DiffResponse>) => this.client.diff(request, answer));
    const { DIFF_NONE, DIFF_SOME } = pb.DiffResponse.DiffChanges;
    const changes = response.getChanges();
    return {
      changes: changes === DIFF_SOME ? "some" : changes === DIFF_NONE ? "none" : "unknown",
      replaces: response.getReplacesList(),
      deleteBeforeReplace: response.getDeletebeforereplace(),
    };
  }

  async create(urn: string, inputs: Props): Promise<{ id: string; outputs: Props }> {
    const request = new pb.CreateRequest();
    identify(request, urn);
    request.setProperties(struct(inputs));
    const response = await call(
      (answer: Answer<pb.CreateResponse>) => this.client.create(request, answer),
      inputs,
    );
    const id = response.getId();
    if (id === "") throw new Error(`plugin returned empty resource.ID from create '${urn}'`);
    return { id, outputs: marked(read(response.getProperties()), inputs) };
  }

  async update(old: ResourceState, news: Props): Promise<Props> {
    const request = new pb.UpdateRequest();
    identify(request, old.urn);
    request.setId(old.id);
    request.setOldInputs(struct(old.inputs));
    request.setOlds(struct(old.outputs ?? {}));
    request.setNews(struct(news));
    const response = await call(
      (answer: Answer<pb.UpdateResponse>) => this.client.update(request, answer),
      news,
    );
    return marked(read(response.getProperties()), news);
  }

  /** `outputs` is undefined where the provider gave none, `inputs` where it left them as they are. */
  async read(urn: string, id: string, inputs: Props, state: Props): Promise<ReadResult> {
    const request = new pb.ReadRequest();
    identify(request, urn);
    request.setId(id);
    request.setInputs(struct(inputs));
    request.setProperties(struct(state));
    const response = await call(
      (answer: Answer<pb.ReadResponse>) => this.client.read(request, answer),
      state,
    );
    const [properties, liveInputs] = [response.getProperties(), response.getInputs()];
    return {
      id: response.getId(),
      outputs: properties && marked(read(properties), state),
      inputs: liveInputs && marked(read(liveInputs), inputs),
    };
  }

  async delete(old: ResourceState): Promise<void> {
    const request = new pb.DeleteRequest();
    identify(request, old.urn);
    request.setId(old.id);
    request.setOldInputs(struct(old.inputs));
    request.setProperties(struct(old.outputs ?? {}));
    await call((answer: Answer<unknown>) => this.client.delete(request, answer));
  }
}

export interface ReadResult {
  id: string;
  outputs: Props | undefined;
  inputs: Props | undefined;
}

function identify(
  request: { setUrn(urn: string): void; setName(name: string): void; setType(type: string): void },
  urn: string,
): void {
  request.setUrn(urn);
  request.setName(nameOf(urn));
  request.setType((urn.split("::")[2] ?? "").split("$").at(-1) ?? "");
}

type Plain = Parameters<typeof Struct.fromJavaScript>[0];

function struct(props: Props): Struct {
  return Struct.fromJavaScript(propsToProvider(props) as Plain);
}

/** The properties as the program's side of the protocol spells them. */
export function programStruct(props: Props): Plain {
  return toProgram(props) as Plain;
}

function read(struct: Struct | undefined): Props {
  const value: Value = struct === undefined ? {} : fromWire(struct.toJavaScript());
  return isProps(value) ? value : {};
}

function marked(outs: Props, ins: Props): Props {
  markSecrets(outs, ins);
  return outs;
}

/** One unary call. An error that carries a half-made resource becomes `InitFailed`; as `parseError`. */
function call<T>(send: (answer: Answer<T>) => unknown, ins: Props = {}): Promise<T> {
  return new Promise((resolve, reject) => {
    send((error, response) => {
      if (error === null) return resolve(response);
      reject(initFailure(error, ins) ?? new Error(error.details));
    });
  });
}

function initFailure(error: grpc.ServiceError, ins: Props): InitFailed | undefined {
  const [packed] = error.metadata.get("grpc-status-details-bin");
  if (!Buffer.isBuffer(packed)) return undefined;
  for (const detail of Status.deserializeBinary(packed).getDetailsList()) {
    const failed = detail.unpack(
      pb.ErrorResourceInitFailed.deserializeBinary,
      "pulumirpc.ErrorResourceInitFailed",
    );
    if (failed === null) continue;
    const inputs = failed.getInputs();
    return new InitFailed(
      failed.getId(),
      marked(read(failed.getProperties()), ins),
      inputs && marked(read(inputs), ins),
      failed.getReasonsList(),
    );
  }
  return undefined;
}
