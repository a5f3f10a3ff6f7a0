import type * as grpc from "@grpc/grpc-js";
import { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import type { IResourceProviderServer } from "@pulumi/pulumi/proto/provider_grpc_pb";
import {
  ConfigureResponse,
  GetSchemaResponse,
  ProviderHandshakeResponse,
} from "@pulumi/pulumi/proto/provider_pb";
import { endpointParsers } from "../endpoint/fields";
import { CloudEndpoints } from "../endpoint/resource";
import { Empty } from "../pulumi/grpc";
import { TYPES, WEBHOOK_TYPE } from "../pulumi/typeTokens";
import { partsOfUrn } from "../pulumi/urn";
import { UserError } from "../service/apiErrors";
import { HttpClient } from "../service/client";
import { type Clock, realClock } from "../service/clock";
import { EndpointsApi } from "../service/endpoints";
import { VERSION } from "../service/version";
import { Configuration } from "./configuration";
import { EngineLog } from "./engineLog";
import { failure, unknownToken } from "./failure";
import { invoke, type PolicyWarnings, type Webhooks } from "./functions";
import { Resources } from "./resources";

interface PluginOptions {
  webhooks: Webhooks;
  warnings: PolicyWarnings;
  /** The package schema, as JSON. */
  schema(): string;
  /** Whether the engine is still there to store the result of a create. */
  isEngineAlive(): Promise<boolean>;
  /** Contains the stack's configuration and the settings of the environment. */
  environment: NodeJS.ProcessEnv;
  clock?: Clock;
}

/** The core behind the plugin protocol. Each process serves one provider. */
export function pluginProvider(options: PluginOptions) {
  const { clock = realClock } = options;
  const log = new EngineLog();
  const configuration = new Configuration(options.environment);

  let service: EndpointsApi | undefined;
  let cancelled = false;
  /** The functions that end the components under construction. */
  const components = new Set<(error: UserError) => void>();
  const connect = (): EndpointsApi => {
    if (service) return service;
    const http = new HttpClient(configuration.settings(), {
      clock,
      log: { info: log.general, warn: log.warn },
      writeLog: log.general,
      isEngineAlive: options.isEngineAlive,
    });
    if (cancelled) http.stop();
    service = new EndpointsApi(http, endpointParsers);
    return service;
  };
  const core = new CloudEndpoints({ connect, log, stack: () => partsOfUrn(log.urn).stack });
  const resources = new Resources(core, log, configuration, options.warnings);

  /** A call about the resource with this URN, or about none. */
  function unary<Q, R>(
    work: (request: Q) => R | Promise<R>,
    urnOf: (request: Q) => string = () => "",
  ): grpc.handleUnaryCall<Q, R> {
    return ({ request }, answer) => {
      log
        .during(urnOf(request), async () => work(request))
        .then(
          (response) => answer(null, response),
          (error: unknown) => answer(failure(error)),
        );
    };
  }

  /** A call about a resource of this package. */
  function ofResource<Q extends { getUrn(): string }, R>(
    work: (request: Q) => R | Promise<R>,
  ): grpc.handleUnaryCall<Q, R> {
    return unary(
      (request) => {
        const { type } = partsOfUrn(request.getUrn());
        if (type !== TYPES.plugin) throw unknownToken(type, [TYPES.plugin]);
        return work(request);
      },
      (request) => request.getUrn(),
    );
  }

  return {
    handshake: unary((request) => {
      log.connect(request.getEngineAddress());
      return new ProviderHandshakeResponse().setAcceptSecrets(true).setAcceptResources(true);
    }),
    attach: unary((request) => {
      log.connect(request.getAddress());
      return new Empty();
    }),
    getPluginInfo: unary(() => new PluginInfo().setVersion(VERSION)),
    getSchema: unary(() => new GetSchemaResponse().setSchema(options.schema())),

    checkConfig: unary((request) => configuration.check(request)),
    diffConfig: unary((request) => configuration.diff(request)),
    configure: unary((request) => {
      configuration.configure(request);
      service = undefined;
      return new ConfigureResponse().setAcceptsecrets(true).setAcceptresources(true).setSupportspreview(true);
    }),

    check: ofResource((request) => resources.check(request)),
    diff: ofResource((request) => resources.diff(request)),
    create: ofResource((request) => resources.create(request)),
    read: ofResource((request) => resources.read(request)),
    update: ofResource((request) => resources.update(request)),
    delete: ofResource(async (request) => {
      await resources.delete(request);
      return new Empty();
    }),
    invoke: unary((request) =>
      invoke(request, {
        api: connect,
        warn: log.warn,
        warningsMode: () => configuration.policyWarnings,
        warnings: options.warnings,
        webhooks: options.webhooks,
      }),
    ),
    construct: unary(async (request) => {
      if (request.getType() !== WEBHOOK_TYPE) throw unknownToken(request.getType(), [WEBHOOK_TYPE]);
      let end: (error: UserError) => void = () => {};
      const ended = new Promise<never>((_, reject) => {
        end = reject;
      });
      components.add(end);
      return Promise.race([ended, options.webhooks.construct(request, log.address)]).finally(() =>
        components.delete(end),
      );
    }),

    cancel: unary(async () => {
      cancelled = true;
      service?.http.stop();
      // The engine closes the connection after this answer, and reports a problem of each component without an answer. So the
      // components end first.
      for (const end of components) end(new UserError("cancelled, because the run ended"));
      await new Promise(setImmediate);
      return new Empty();
    }),
  } satisfies Partial<IResourceProviderServer>;
}
