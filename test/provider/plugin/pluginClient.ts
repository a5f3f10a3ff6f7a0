import { setImmediate } from "node:timers/promises";
import * as grpc from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import type { LogRequest } from "@pulumi/pulumi/proto/engine_pb";
import { InputPropertiesError } from "@pulumi/pulumi/proto/errors_pb";
import type { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as pb from "@pulumi/pulumi/proto/provider_pb";
import { ResourceMonitorService } from "@pulumi/pulumi/proto/resource_grpc_pb";
import {
  type RegisterResourceOutputsRequest,
  type RegisterResourceRequest,
  RegisterResourceResponse,
  type SupportsFeatureRequest,
  SupportsFeatureResponse,
} from "@pulumi/pulumi/proto/resource_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import type { Message } from "google-protobuf";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { onTestFinished } from "vitest";
import { pluginProvider } from "../../../provider/plugin/plugin";
import { WEBHOOK_TYPE } from "../../../provider/pulumi/typeTokens";
import type { Clock } from "../../../provider/service/clock";
import * as warnings from "../../../sdk/policyWarnings";
import type { Emulator } from "../../../sdk/testing/emulator";
import { webhooks } from "../../../sdk/webhooks/otherLanguages";
import { startEmulator } from "../emulated";
import { virtualClock } from "../virtualClock";

export type Props = Record<string, unknown>;

/** A secret as the engine marks it on the wire. */
export const secret = (value: unknown) => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  value,
});

export const URN = "urn:pulumi:stack::project::endpoints:index:CloudEndpoint::shop";

export const url = "https://shop.example.com";
export const rules = (status: unknown) => ({
  on_http_request: [{ actions: [{ type: "log" }, { type: "deny", config: { status_code: status } }] }],
});
export const full = {
  url,
  trafficPolicy: rules(404),
  description: "front door",
  metadata: { team: "shop", "cost.center": 1 },
  bindings: ["public"],
  poolingEnabled: false,
};

/** Starts an engine that records log messages. */
export async function startEngine() {
  const logged: { severity: number; message: string; urn: string }[] = [];
  let received = 0;
  const address = await serve((server) =>
    server.addService(EngineService, {
      log: async ({ request }: { request: LogRequest }, answer: grpc.sendUnaryData<Empty>) => {
        // The engine handles messages in parallel, so a later one can overtake an earlier one.
        if (++received % 2 === 1) for (let turns = 0; turns < 20; turns++) await setImmediate();
        logged.push({
          severity: request.getSeverity(),
          message: request.getMessage(),
          urn: request.getUrn(),
        });
        answer(null, new Empty());
      },
    }),
  );
  return { address, logged };
}

/** Starts the plugin, an emulated service, and an engine. */
export async function plugin(
  options: {
    environment?: Record<string, string>;
    args?: Props;
    name?: string;
    configure?: boolean;
    emulator?: Emulator;
    engine?: Awaited<ReturnType<typeof startEngine>>;
    clock?: Clock;
  } = {},
) {
  const { environment = {}, args, name = "default", configure = true } = options;
  const { engine = await startEngine(), clock = virtualClock() } = options;
  const { emulator = await startEmulator(clock) } = options;
  const provider = pluginProvider({
    webhooks,
    warnings,
    schema: () => '{"name":"endpoints"}',
    isEngineAlive: async () => true,
    environment: { ENDPOINTS_REQUESTS_PER_WINDOW: "100000", ...environment },
    clock,
  });
  const client = pluginClient(direct(provider));
  await client.handshake(engine.address);
  if (configure) {
    await client.configure(args ?? { apiKey: secret(emulator.apiKey), baseUrl: emulator.baseUrl }, name);
  }
  return { client, emulator, logged: engine.logged };
}

/** A client that calls the provider in this process, because a connection would take most of a short test's time. */
function direct(provider: ReturnType<typeof pluginProvider>): ResourceProviderClient {
  const calls = Object.entries(provider).map(([name, handle]) => {
    const call = (request: unknown, then: Answer) =>
      (handle as (call: object, answer: Answer) => void)({ request }, (error, answer) =>
        then(error && { metadata: new grpc.Metadata(), ...error }, answer),
      );
    return [name, call];
  });
  return { close: () => {}, ...Object.fromEntries(calls) };
}

/**
 * Starts the engine's monitor. Returns its address and the registered components. `onRegister` is called in place of an answer to
 * a registration.
 */
export async function monitor(onRegister?: () => void, { failsAtFirst = false } = {}) {
  let fails = failsAtFirst;
  const registered: { urn: string; outputs: Props }[] = [];
  const address = await serve((server) =>
    server.addService(ResourceMonitorService, {
      supportsFeature: ({ request }: { request: SupportsFeatureRequest }, answer: Answer) => {
        if (fails) return answer({ code: grpc.status.UNAVAILABLE });
        answer(null, new SupportsFeatureResponse().setHassupport(request.getId() === "secrets"));
      },
      registerResource: ({ request }: { request: RegisterResourceRequest }, answer: Answer) => {
        if (onRegister) return onRegister();
        const urn = `urn:pulumi:stack::project::${request.getType()}::${request.getName()}`;
        answer(null, new RegisterResourceResponse().setUrn(urn).setObject(request.getObject()));
      },
      registerResourceOutputs: ({ request }: { request: RegisterResourceOutputsRequest }, answer: Answer) => {
        registered.push({ urn: request.getUrn(), outputs: plain(request.getOutputs()) });
        answer(null, new Empty());
      },
    }),
  );
  return { address, registered, recover: () => (fails = false) };
}

type Answer = grpc.sendUnaryData<unknown>;

/** Starts the plugin, and checks and creates a resource, as the engine does. */
export async function created(news: Props) {
  const parts = await plugin();
  const { inputs } = await parts.client.check({}, news);
  return { ...parts, inputs, ...(await parts.client.create(inputs)) };
}

async function serve(add: (server: grpc.Server) => void): Promise<string> {
  const server = new grpc.Server();
  add(server);
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    ),
  );
  onTestFinished(() => server.forceShutdown());
  return `127.0.0.1:${port}`;
}

export type PluginClient = ReturnType<typeof pluginClient>;

/** A client for the plugin protocol, with plain data. Its calls are about the resource with the given URN. */
export function pluginClient(raw: ResourceProviderClient, urn = URN) {
  return {
    raw,
    handshake: (engine: string) => {
      const request = new pb.ProviderHandshakeRequest().setEngineAddress(engine);
      return call<pb.ProviderHandshakeResponse>((then) => raw.handshake(request, then));
    },
    checkConfig: async (news: Props, name = "default") => {
      const urn = `urn:pulumi:stack::project::pulumi:providers:endpoints::${name}`;
      const request = about(new pb.CheckRequest(), urn).setNews(struct(news));
      return checked(await call((then) => raw.checkConfig(request, then)));
    },
    diffConfig: async (olds: Props, news: Props) => {
      const request = new pb.DiffRequest().setOldInputs(struct(olds)).setNews(struct(news));
      return decided(await call((then) => raw.diffConfig(request, then)));
    },
    configure: (args: Props, name = "default") => {
      const request = new pb.ConfigureRequest().setArgs(struct(args)).setName(name);
      return call<pb.ConfigureResponse>((then) => raw.configure(request, then));
    },
    check: async (olds: Props, news: Props) => {
      const request = about(new pb.CheckRequest(), urn).setOlds(struct(olds)).setNews(struct(news));
      return checked(await call((then) => raw.check(request, then)));
    },
    diff: async (id: string, oldOutputs: Props, news: Props, oldInputs: Props = {}) => {
      const request = about(new pb.DiffRequest(), urn).setId(id).setOldInputs(struct(oldInputs));
      request.setOlds(struct(oldOutputs)).setNews(struct(news));
      return decided(await call((then) => raw.diff(request, then)));
    },
    create: async (news: Props, { preview = false } = {}) => {
      const request = about(new pb.CreateRequest(), urn).setProperties(struct(news)).setPreview(preview);
      const answer = await call<pb.CreateResponse>((then) => raw.create(request, then));
      return { id: answer.getId(), outs: plain(answer.getProperties()) };
    },
    /** A refresh has the state's inputs; an import has none. */
    read: async (id: string, outputs?: Props, inputs?: Props) => {
      const request = about(new pb.ReadRequest(), urn).setId(id);
      if (outputs) request.setProperties(struct(outputs));
      if (inputs) request.setInputs(struct(inputs));
      const answer = await call<pb.ReadResponse>((then) => raw.read(request, then));
      return {
        id: answer.getId(),
        props: answer.hasProperties() ? plain(answer.getProperties()) : undefined,
        inputs: answer.hasInputs() ? plain(answer.getInputs()) : undefined,
      };
    },
    update: async (id: string, oldOutputs: Props, news: Props, { preview = false } = {}) => {
      const request = about(new pb.UpdateRequest(), urn).setId(id).setOlds(struct(oldOutputs));
      request.setNews(struct(news)).setPreview(preview);
      const answer = await call<pb.UpdateResponse>((then) => raw.update(request, then));
      return { outs: plain(answer.getProperties()) };
    },
    delete: async (id: string, outputs: Props): Promise<void> => {
      const request = about(new pb.DeleteRequest(), urn).setId(id).setProperties(struct(outputs));
      await call((then) => raw.delete(request, then));
    },
    invoke: async (token: string, args: Props) => {
      const request = new pb.InvokeRequest().setTok(token).setArgs(struct(args));
      const answer = await call<pb.InvokeResponse>((then) => raw.invoke(request, then));
      return { result: plain(answer.getReturn()), failures: answer.toObject().failuresList };
    },
    /** Constructs a component with the engine's monitor at this address. Only a preview has unknown inputs. */
    construct: async (monitor: string, name: string, inputs: Props, type = WEBHOOK_TYPE) => {
      const request = new pb.ConstructRequest().setType(type).setName(name).setMonitorendpoint(monitor);
      request.setProject("project").setStack("stack").setParallel(4).setDryrun(true);
      request.setInputs(struct(inputs));
      const answer = await call<pb.ConstructResponse>((then) => raw.construct(request, then));
      return { urn: answer.getUrn(), state: plain(answer.getState()) };
    },
    cancel: () => call((then) => raw.cancel(new Empty(), then)),
  };
}

/** A failed call. The message is the plugin's own, and the cause is gRPC's error. */
class CallFailed extends Error {
  /** The partial result of a create or an update that failed. */
  readonly id: string | undefined;
  readonly properties: Props | undefined;

  constructor(override readonly cause: grpc.ServiceError) {
    super(cause.details);
    const partial = detailOf(cause, pb.ErrorResourceInitFailed.deserializeBinary, "ErrorResourceInitFailed");
    this.id = partial?.getId();
    this.properties = partial && plain(partial.getProperties());
  }
}

/** A detail of an error, beside its text. */
function detailOf<T extends Message>(
  { metadata }: grpc.ServiceError,
  read: (bytes: Uint8Array) => T,
  name: string,
): T | undefined {
  const [packed] = metadata.get("grpc-status-details-bin");
  const [detail] = Buffer.isBuffer(packed) ? Status.deserializeBinary(packed).getDetailsList() : [];
  return (detail?.unpack(read, `pulumirpc.${name}`) as T | null | undefined) ?? undefined;
}

const call = <A>(send: (then: (error: grpc.ServiceError | null, answer: A) => void) => unknown): Promise<A> =>
  new Promise((resolve, reject) => {
    send((error, answer) => (error ? reject(new CallFailed(error)) : resolve(answer)));
  });

/** A request about the resource with this URN. */
function about<R extends Record<"setUrn" | "setName" | "setType", (text: string) => unknown>>(
  request: R,
  urn: string,
): R {
  const [, , type = "", name = ""] = urn.split("::");
  request.setUrn(urn);
  request.setName(name);
  request.setType(type);
  return request;
}

const struct = (props: Props) => Struct.fromJavaScript(props as Parameters<typeof Struct.fromJavaScript>[0]);
const plain = (struct: Struct | undefined): Props => struct?.toJavaScript() ?? {};

function checked(answer: pb.CheckResponse) {
  return { inputs: plain(answer.getInputs()), failures: answer.toObject().failuresList };
}

function decided(answer: pb.DiffResponse) {
  const kinds = Object.entries(pb.PropertyDiff.Kind);
  const detailed: Record<string, string> = {};
  answer.getDetaileddiffMap().forEach((place, path) => {
    const [kind] = kinds.find(([, value]) => value === place.getKind()) ?? ["?"];
    detailed[path] = place.getInputdiff() ? `${kind} of inputs` : kind;
  });
  return {
    changes: answer.getChanges() === pb.DiffResponse.DiffChanges.DIFF_SOME,
    replaces: answer.getReplacesList(),
    deleteBeforeReplace: answer.getDeletebeforereplace(),
    diffs: answer.getDiffsList(),
    detailed: answer.getHasdetaileddiff() ? detailed : undefined,
  };
}

/** The mistakes in a component's inputs, with their paths, in the error of a call. */
export function mistakesIn(error: Error): string[] {
  if (!(error instanceof CallFailed)) return [];
  const detail = detailOf(error.cause, InputPropertiesError.deserializeBinary, "InputPropertiesError");
  return (detail?.getErrorsList() ?? []).map((each) => `${each.getPropertyPath()} ${each.getReason()}`);
}
