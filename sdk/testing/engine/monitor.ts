import * as grpc from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import * as engine from "@pulumi/pulumi/proto/engine_pb";
import { CheckFailure, InvokeResponse } from "@pulumi/pulumi/proto/provider_pb";
import { ResourceMonitorService } from "@pulumi/pulumi/proto/resource_grpc_pb";
import * as pb from "@pulumi/pulumi/proto/resource_pb";
import { Empty } from "../../../provider/plugin/protocol";
import type { Diagnostic } from "../types";
import {
  type Goal,
  goalOf,
  type ProviderWish,
  type ReadGoal,
  readGoalOf,
  whatIsUnsupported,
  wishOf,
} from "./goal";
import type { Invoked } from "./pluginClient";
import { CHANNEL, struct } from "./pluginMessages";
import type * as provider from "./provider";
import type { ResourceState } from "./resourceState";
import type { Props } from "./values";
import { ALL, propsFromWire } from "./wire";

/** Who answers the program. A promise that is never kept leaves the program waiting, which is meant: it ends anyway. */
export interface Registrar {
  register(goal: Goal, wish: ProviderWish): Promise<ResourceState>;
  read(goal: ReadGoal, wish: ProviderWish): Promise<ResourceState>;
  invoke(token: string, args: Props, wish: ProviderWish): Promise<Invoked>;
  registerOutputs(urn: string, outputs: Props): Promise<void>;
  lookup(urn: string): ResourceState | undefined;
  log(severity: Diagnostic["severity"], message: string, urn: string): void;
  /** The program asks for something that this engine does not do. The run fails with this sentence. */
  refuse(message: string): void;
  /** The program ended well and has registered all that it will. */
  finished(): void;
}

/** What the SDK may use. For what is missing here (`deletedWith`, `replaceWith`, hooks) it throws on its own. */
const FEATURES = new Set(["secrets", "resourceReferences", "outputValues", "aliasSpecs", "transforms"]);

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

  private refused<Q, A>(what: string): Unary<Q, A> {
    return (_, answer) => {
      const details = `the test engine does not support ${what}`;
      this.registrar.refuse(details);
      answer({ code: grpc.status.UNIMPLEMENTED, details });
    };
  }

  private monitorService(): grpc.UntypedServiceImplementation {
    const { registrar } = this;
    const supportsFeature: Unary<pb.SupportsFeatureRequest, pb.SupportsFeatureResponse> = (call, answer) => {
      const response = new pb.SupportsFeatureResponse();
      response.setHassupport(FEATURES.has(call.request.getId()));
      answer(null, response);
    };
    const registerResource: Unary<pb.RegisterResourceRequest, pb.RegisterResourceResponse> = (
      { request },
      answer,
    ) => {
      const unsupported = whatIsUnsupported(request);
      if (unsupported) return registrar.refuse(`the test engine does not support ${unsupported}`);
      void answering(answer, registrar, async () => {
        const state = await registrar.register(goalOf(request), wishOf(request.getType(), request));
        const response = new pb.RegisterResourceResponse();
        response.setUrn(state.urn);
        response.setId(state.id);
        // Outputs of a component may refer to resources that are not registered yet; as `RegisterResource` leaves them out.
        response.setObject(struct(request.getCustom() ? (state.outputs ?? {}) : {}, ALL));
        return response;
      });
    };
    const readResource: Unary<pb.ReadResourceRequest, pb.ReadResourceResponse> = ({ request }, answer) => {
      void answering(answer, registrar, async () => {
        const state = await registrar.read(readGoalOf(request), wishOf(request.getType(), request));
        const response = new pb.ReadResourceResponse();
        response.setUrn(state.urn);
        response.setProperties(struct(state.outputs ?? {}, ALL));
        return response;
      });
    };
    const registerResourceOutputs: Unary<pb.RegisterResourceOutputsRequest, Empty> = (
      { request },
      answer,
    ) => {
      void answering(answer, registrar, async () => {
        const outputs = propsFromWire(request.getOutputs()?.toJavaScript());
        await registrar.registerOutputs(request.getUrn(), outputs);
        return new Empty();
      });
    };
    const invoke: Unary<pb.ResourceInvokeRequest, InvokeResponse> = ({ request }, answer) => {
      const args = propsFromWire(request.getArgs()?.toJavaScript());
      if (request.getTok() === "pulumi:pulumi:getResource") return getResource(String(args["urn"]), answer);
      // What a function answers, a failure too, is the program's to deal with.
      registrar.invoke(request.getTok(), args, wishOf(request.getTok(), request)).then(
        ({ result, failures }) => answer(null, invokeResponse(result, failures)),
        (error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error);
          const details = `invocation of ${request.getTok()} returned an error: ${reason}`;
          answer({ code: grpc.status.UNKNOWN, details });
        },
      );
    };
    // The SDK itself asks for resources that it finds as values; see `getResource` of the built-in provider.
    const getResource = (urn: string, answer: grpc.sendUnaryData<InvokeResponse>): void => {
      const state = registrar.lookup(urn);
      if (!state) answer({ code: grpc.status.UNKNOWN, details: `unknown resource ${urn}` });
      else answer(null, invokeResponse({ urn, id: state.id, state: state.outputs ?? {} }, []));
    };
    const signalAndWaitForShutdown: Unary<Empty, Empty> = (_, answer) => {
      registrar.finished();
      answer(null, new Empty());
    };
    return {
      supportsFeature,
      registerResource,
      readResource,
      registerResourceOutputs,
      invoke,
      signalAndWaitForShutdown,
      // The SDK falls back to asking for single features.
      getDeploymentInfo: (_: unknown, answer: grpc.sendUnaryData<pb.DeploymentInfo>) =>
        answer({ code: grpc.status.UNIMPLEMENTED, details: "GetDeploymentInfo is not implemented" }),
      call: this.refused("calling methods of resources"),
      registerStackTransform: this.refused("transforms"),
      registerStackInvokeTransform: this.refused("transforms of invokes"),
      registerResourceHook: this.refused("resource hooks"),
      registerErrorHook: this.refused("error hooks"),
      registerPackage: this.refused("packages with parameters"),
    };
  }

  private engineService(): grpc.UntypedServiceImplementation {
    const severities = ["debug", "info", "warning", "error"] as const;
    const log: Unary<engine.LogRequest, Empty> = ({ request }, answer) => {
      const severity = severities[request.getSeverity()] ?? "info";
      if (!request.getEphemeral()) this.registrar.log(severity, request.getMessage(), request.getUrn());
      answer(null, new Empty());
    };
    const getRootResource: Unary<engine.GetRootResourceRequest, engine.GetRootResourceResponse> = (
      _,
      answer,
    ) => {
      const response = new engine.GetRootResourceResponse();
      response.setUrn(this.root);
      answer(null, response);
    };
    const setRootResource: Unary<engine.SetRootResourceRequest, engine.SetRootResourceResponse> = (
      call,
      answer,
    ) => {
      this.root = call.request.getUrn();
      answer(null, new engine.SetRootResourceResponse());
    };
    return {
      log,
      getRootResource,
      setRootResource,
      startDebugging: this.refused("debugging"),
      requirePulumiVersion: this.refused("asking for a version of the CLI"),
    };
  }
}

function invokeResponse(result: Props, failures: provider.CheckFailure[]): InvokeResponse {
  const response = new InvokeResponse();
  response.setReturn(struct(result, ALL));
  response.setFailuresList(
    failures.map(({ property, reason }) => new CheckFailure().setProperty(property).setReason(reason)),
  );
  return response;
}

/** Answers with what the work gives. Work that throws ends the run, and the program is left without an answer. */
async function answering<A>(
  answer: grpc.sendUnaryData<A>,
  registrar: Registrar,
  work: () => Promise<A>,
): Promise<void> {
  try {
    answer(null, await work());
  } catch (error) {
    registrar.refuse(error instanceof Error ? error.message : String(error));
  }
}
