import { promisify } from "node:util";
import * as grpc from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { type LogRequest, SetRootResourceResponse } from "@pulumi/pulumi/proto/engine_pb";
import type { InvokeResponse } from "@pulumi/pulumi/proto/provider_pb";
import { ResourceMonitorService } from "@pulumi/pulumi/proto/resource_grpc_pb";
import * as pb from "@pulumi/pulumi/proto/resource_pb";
import { messageOf } from "../../../provider/data/index";
import { Empty } from "../../../provider/pulumi/grpc";
import { Unsupported } from "../errors";
import type { Deployment } from "./deployment";
import { CHANNEL, fromStruct, toStruct } from "./protocol";

/**
 * The features that the engine reports to the SDK. A program that uses an unsupported one of them fails with this engine's error.
 * If the feature were missing here, the SDK's error would ask for a newer CLI.
 */
const FEATURES = new Set([
  "secrets",
  "resourceReferences",
  "aliasSpecs",
  "deletedWith",
  "replaceWith",
  "transforms",
  "invokeTransforms",
  "resourceHooks",
  "errorHooks",
  "parameterization",
]);
const SEVERITIES = ["debug", "info", "warning", "error"] as const;

type Unary<Q, A> = (call: grpc.ServerUnaryCall<Q, A>, answer: grpc.sendUnaryData<A>) => void;

/** The server that the program's SDK and the providers call: Pulumi's resource monitor and its engine service. */
export class Monitor {
  private readonly server = new grpc.Server(CHANNEL);

  constructor(private readonly deployment: Deployment) {
    this.server.addService(ResourceMonitorService, this.monitorService());
    this.server.addService(EngineService, this.engineService());
  }

  /** Starts the server. Returns its address: `host:port`. */
  async listen(): Promise<string> {
    const bind = promisify(this.server.bindAsync).bind(this.server);
    return `127.0.0.1:${await bind("127.0.0.1:0", grpc.ServerCredentials.createInsecure())}`;
  }

  close(): void {
    this.server.forceShutdown();
  }

  private unsupported(what: string): Unary<unknown, unknown> {
    return (_, answer) => {
      const error = new Unsupported(what);
      this.deployment.bail(error);
      answer({ code: grpc.status.UNIMPLEMENTED, details: error.message });
    };
  }

  /** Replies with the result of `work`. If it throws, the run fails and the program gets no reply. */
  private handler<Q, A>(work: (request: Q) => A | Promise<A>): Unary<Q, A> {
    return async ({ request }, answer) => {
      try {
        answer(null, await work(request));
      } catch (error) {
        this.deployment.bail(error);
      }
    };
  }

  private monitorService(): grpc.UntypedServiceImplementation {
    const { deployment } = this;
    return {
      supportsFeature: this.handler((request: pb.SupportsFeatureRequest) =>
        new pb.SupportsFeatureResponse().setHassupport(FEATURES.has(request.getId())),
      ),
      registerResource: this.handler(async (request: pb.RegisterResourceRequest) => {
        const state = await deployment.register(request);
        // No outputs for a component, because they can refer to resources that are not registered yet.
        const outputs = request.getCustom() ? (state.outputs ?? {}) : {};
        return new pb.RegisterResourceResponse()
          .setUrn(state.urn)
          .setId(state.id)
          .setObject(toStruct(outputs));
      }),
      readResource: this.handler(async (request: pb.ReadResourceRequest) => {
        const state = await deployment.read(request);
        return new pb.ReadResourceResponse().setUrn(state.urn).setProperties(toStruct(state.outputs ?? {}));
      }),
      registerResourceOutputs: this.handler(async (request: pb.RegisterResourceOutputsRequest) => {
        await deployment.registerOutputs(request.getUrn(), fromStruct(request.getOutputs()));
        return new Empty();
      }),
      invoke: this.invoke,
      signalAndWaitForShutdown: this.handler(() => new Empty()),
      call: this.unsupported("methods of resources"),
      registerStackTransform: this.unsupported("transforms"),
      registerStackInvokeTransform: this.unsupported("transforms of invokes"),
      registerResourceHook: this.unsupported("resource hooks"),
      registerErrorHook: this.unsupported("error hooks"),
      registerPackage: this.unsupported("packages with parameters"),
    };
  }

  /** Calls a function. Its errors go to the program, which can handle them. */
  private readonly invoke: Unary<pb.ResourceInvokeRequest, InvokeResponse> = async ({ request }, answer) => {
    try {
      answer(null, await this.deployment.invoke(request));
    } catch (error) {
      const details = `invocation of ${request.getTok()} returned an error: ${messageOf(error)}`;
      answer({ code: grpc.status.UNKNOWN, details });
    }
  };

  private engineService(): grpc.UntypedServiceImplementation {
    return {
      log: this.handler((request: LogRequest) => {
        const severity = SEVERITIES[request.getSeverity()] ?? "info";
        if (!request.getEphemeral())
          this.deployment.summary.report(severity, request.getMessage(), request.getUrn());
        return new Empty();
      }),
      setRootResource: this.handler(() => new SetRootResourceResponse()),
      startDebugging: this.unsupported("debugging"),
      requirePulumiVersion: this.unsupported("asking for a version of the CLI"),
    };
  }
}
