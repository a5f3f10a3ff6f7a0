import * as grpc from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import * as engine from "@pulumi/pulumi/proto/engine_pb";
import { CheckFailure, InvokeResponse } from "@pulumi/pulumi/proto/provider_pb";
import { ResourceMonitorService } from "@pulumi/pulumi/proto/resource_grpc_pb";
import * as pb from "@pulumi/pulumi/proto/resource_pb";
import { Empty } from "../../../provider/plugin/protocol";
import type { Diagnostic } from "../types";
import type { ResourceState } from "./checkpoint";
import { type Goal, goalOf, type ProviderRequest, providerRequest, readGoalOf } from "./goals";
import { Unsupported } from "./project";
import { ALL, fromStruct, type Props, toStruct } from "./properties";
import type { Invoked } from "./providerCalls";
import { CHANNEL } from "./providerCalls";

/** Answers the program. A promise that never resolves keeps the program waiting until it is ended, as after a failure. */
export interface Registrar {
  register(goal: Goal, request: ProviderRequest): Promise<ResourceState>;
  read(goal: Goal, request: ProviderRequest): Promise<ResourceState>;
  invoke(token: string, args: Props, request: ProviderRequest): Promise<Invoked>;
  registerOutputs(urn: string, outputs: Props): Promise<void>;
  lookup(urn: string): ResourceState | undefined;
  log(severity: Diagnostic["severity"], message: string, urn: string): void;
  /** Fails the run with this message. */
  refuse(message: string): void;
  /** The program ended well and has registered all that it will. */
  finished(): void;
}

/** What the SDK may use. It throws for features that are not listed (`deletedWith`, `replaceWith`, hooks). */
const FEATURES = new Set(["secrets", "resourceReferences", "outputValues", "aliasSpecs", "transforms"]);
const SEVERITIES = ["debug", "info", "warning", "error"] as const;

type Unary<Q, A> = (call: grpc.ServerUnaryCall<Q, A>, answer: grpc.sendUnaryData<A>) => void;

/** The resource monitor and engine services of one program process, on a port of their own. */
export class Monitor {
  private readonly server = new grpc.Server(CHANNEL);
  /** `host:port`, once it listens. */
  address = "";
  private root = "";

  constructor(private readonly registrar: Registrar) {
    this.server.addService(ResourceMonitorService, this.monitorService());
    this.server.addService(EngineService, this.engineService());
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
        this.address = `127.0.0.1:${port}`;
        if (error) reject(error);
        else resolve();
      });
    });
  }

  close(): void {
    this.server.forceShutdown();
  }

  private refused(what: string): Unary<unknown, unknown> {
    return (_, answer) => {
      const { message: details } = new Unsupported(what);
      this.registrar.refuse(details);
      answer({ code: grpc.status.UNIMPLEMENTED, details });
    };
  }

  /** Answers with the result of `work`. If it throws, the run fails and the program gets no answer. */
  private answering<Q, A>(work: (request: Q) => A | Promise<A>): Unary<Q, A> {
    return async ({ request }, answer) => {
      try {
        answer(null, await work(request));
      } catch (error) {
        this.registrar.refuse(error instanceof Error ? error.message : String(error));
      }
    };
  }

  private monitorService(): grpc.UntypedServiceImplementation {
    const { registrar } = this;
    return {
      supportsFeature: this.answering((request: pb.SupportsFeatureRequest) =>
        new pb.SupportsFeatureResponse().setHassupport(FEATURES.has(request.getId())),
      ),
      registerResource: this.answering(async (request: pb.RegisterResourceRequest) => {
        const state = await registrar.register(goalOf(request), providerRequest(request.getType(), request));
        // A component's outputs may refer to resources that are not registered yet.
        const outputs = request.getCustom() ? (state.outputs ?? {}) : {};
        return new pb.RegisterResourceResponse()
          .setUrn(state.urn)
          .setId(state.id)
          .setObject(toStruct(outputs, ALL));
      }),
      readResource: this.answering(async (request: pb.ReadResourceRequest) => {
        const state = await registrar.read(readGoalOf(request), providerRequest(request.getType(), request));
        return new pb.ReadResourceResponse()
          .setUrn(state.urn)
          .setProperties(toStruct(state.outputs ?? {}, ALL));
      }),
      registerResourceOutputs: this.answering(async (request: pb.RegisterResourceOutputsRequest) => {
        await registrar.registerOutputs(request.getUrn(), fromStruct(request.getOutputs()));
        return new Empty();
      }),
      invoke: this.invoke,
      signalAndWaitForShutdown: this.answering(() => {
        registrar.finished();
        return new Empty();
      }),
      // Without this method the SDK asks for single features.
      getDeploymentInfo: (_: unknown, answer: grpc.sendUnaryData<unknown>) =>
        answer({ code: grpc.status.UNIMPLEMENTED, details: "GetDeploymentInfo is not implemented" }),
      call: this.refused("methods of resources"),
      registerStackTransform: this.refused("transforms"),
      registerStackInvokeTransform: this.refused("transforms of invokes"),
      registerResourceHook: this.refused("resource hooks"),
      registerErrorHook: this.refused("error hooks"),
      registerPackage: this.refused("packages with parameters"),
    };
  }

  /** Errors of a function are returned to the program, which may handle them. */
  private readonly invoke: Unary<pb.ResourceInvokeRequest, InvokeResponse> = async ({ request }, answer) => {
    const [token, args] = [request.getTok(), fromStruct(request.getArgs())];
    try {
      const { result, failures } =
        token === "pulumi:pulumi:getResource"
          ? this.getResource(String(args["urn"]))
          : await this.registrar.invoke(token, args, providerRequest(token, request));
      const list = failures.map(({ property, reason }) =>
        new CheckFailure().setProperty(property).setReason(reason),
      );
      answer(null, new InvokeResponse().setReturn(toStruct(result, ALL)).setFailuresList(list));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const details = `invocation of ${token} returned an error: ${reason}`;
      answer({ code: grpc.status.UNKNOWN, details });
    }
  };

  /** The SDK calls this for each resource that it receives as a value. */
  private getResource(urn: string): Invoked {
    const state = this.registrar.lookup(urn);
    if (!state) throw new Error(`unknown resource ${urn}`);
    return { result: { urn, id: state.id, state: state.outputs ?? {} }, failures: [] };
  }

  private engineService(): grpc.UntypedServiceImplementation {
    return {
      log: this.answering((request: engine.LogRequest) => {
        const severity = SEVERITIES[request.getSeverity()] ?? "info";
        if (!request.getEphemeral()) this.registrar.log(severity, request.getMessage(), request.getUrn());
        return new Empty();
      }),
      getRootResource: this.answering(() => new engine.GetRootResourceResponse().setUrn(this.root)),
      setRootResource: this.answering((request: engine.SetRootResourceRequest) => {
        this.root = request.getUrn();
        return new engine.SetRootResourceResponse();
      }),
      startDebugging: this.refused("debugging"),
      requirePulumiVersion: this.refused("asking for a version of the CLI"),
    };
  }
}
