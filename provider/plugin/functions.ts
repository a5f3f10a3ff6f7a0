import {
  type ConstructRequest,
  type ConstructResponse,
  type InvokeRequest,
  InvokeResponse,
} from "@pulumi/pulumi/proto/provider_pb";
import { z } from "zod";
import type { JsonObject, PolicyReader } from "../data/index";
import { filterArguments, queryArguments, typeWarnings } from "../dataSources/dataSourceArguments";
import { findEndpoint, findEndpoints } from "../dataSources/lookup";
import { MASKED } from "../endpoint/secretSearch";
import { asSecret, UNKNOWN } from "../pulumi/sentinels";
import { fromEngine, toEngine } from "../pulumi/values";
import { UserError } from "../service/apiErrors";
import type { EndpointsApi } from "../service/endpoints";
import type { Settings } from "../service/settings";
import { checkFailure, unknownToken } from "./failure";

/** `sdk/webhooks`, which is handed to the plugin, because the provider knows nothing of programs. */
export interface Webhooks {
  /**
   * Constructs a `WebhookVerification`.
   *
   * @param engine The address of the engine.
   * @throws InvalidInputs with all mistakes in the known inputs.
   */
  construct(request: ConstructRequest, engine: string): Promise<ConstructResponse>;
  // The functions throw a `UserError` if something cannot be merged.
  mergedPolicy(policy: object | string, verifications: string[], warn: (warning: string) => void): object;
  mergedConfig(configs: readonly (string | null)[]): string;
}

/** `sdk/policyWarnings.ts`, which is handed to the plugin, because the provider does not know what a policy means. */
export interface PolicyWarnings {
  inputWarnings(inputs: JsonObject, facts: { isPublicService: boolean; isNew: boolean }): string[];
  resourceWarnings(inputs: JsonObject, readPolicy?: PolicyReader, options?: { isPart?: boolean }): string[];
  logOrReturnWarnings(
    mode: Settings["policyWarnings"],
    find: () => string[],
    warn: (warning: string) => void,
  ): string[];
}

/** What the functions need of the plugin. */
interface FunctionDeps {
  /** The service. Throws if a required setting is missing. */
  api(): EndpointsApi;
  warningsMode(): Settings["policyWarnings"];
  warnings: PolicyWarnings;
  webhooks: Webhooks;
  warn(warning: string): void;
}

/** @param visible The arguments with unknown values in place of secrets. */
type PluginFunction = (args: JsonObject, deps: FunctionDeps, visible: JsonObject) => Promise<JsonObject>;

const policy = z.union([z.string(), z.looseObject({})], { error: "must be an object or text" });
const outputText = (name: string) =>
  z.string({ error: `must be the output ${name} of a webhook verification` });
const policies = z.array(outputText("trafficPolicy"), {
  error: "must be a list of the outputs trafficPolicy of webhook verifications",
});
// The output of a verification without an agent is null.
const configs = z.array(outputText("agentConfig").nullable(), {
  error: "must be a list of the outputs agentConfig of webhook verifications",
});

/**
 * The functions of the package. A data source may have to show what an earlier call created, so it never joins a listing that
 * has begun.
 */
export const functions: Record<string, PluginFunction> = {
  /** Reads one endpoint of any type by id or URL, in a preview too. */
  "endpoints:index:getEndpoint": async (args, { api }, visible) => {
    const isSecret = visible["id"] !== args["id"] || visible["url"] !== args["url"];
    const display = isSecret ? MASKED : undefined;
    return { ...(await findEndpoint(api(), queryArguments.parse(args), { freshness: "fresh", display })) };
  },

  /** Reads all endpoints of the account, of any type, that match the filters, in a preview too. */
  "endpoints:index:getEndpoints": async (args, { api, warn }) => {
    const filter = filterArguments.parse(args);
    for (const warning of typeWarnings(filter)) warn(warning);
    const endpoints = await findEndpoints(api(), filter, "fresh");
    return { endpoints, ids: endpoints.map(({ id }) => id) };
  },

  /**
   * Adds webhook verifications before a policy's own actions on requests. The result is a policy for a `CloudEndpoint`, and must
   * contain an action that answers.
   */
  "endpoints:index:mergeTrafficPolicy": async (args, { webhooks, ...deps }, visible) => {
    const inputs = z.strictObject({ policy, verifications: policies });
    const { policy: given, verifications } = inputs.parse(args);
    if (given === UNKNOWN || verifications.includes(UNKNOWN)) return { trafficPolicy: asSecret(UNKNOWN) };
    const trafficPolicy = webhooks.mergedPolicy(given, verifications, deps.warn);
    // Checked here, because the result is secret.
    const shown = { trafficPolicy: visible["policy"] };
    const find = () =>
      deps.warnings
        .resourceWarnings(shown, undefined, { isPart: true })
        .map((one) => `mergeTrafficPolicy: ${one}`);
    const failing = deps.warnings.logOrReturnWarnings(deps.warningsMode(), find, deps.warn);
    if (failing.length > 0) throw new UserError(failing.join("\n"));
    return { trafficPolicy: asSecret(trafficPolicy) };
  },

  /** Makes one configuration file for an agent with the endpoints of several webhook verifications. */
  "endpoints:index:mergeAgentConfigs": async (args, { webhooks }) => {
    const { configs: texts } = z.strictObject({ configs }).parse(args);
    if (texts.includes(UNKNOWN)) return { agentConfig: asSecret(UNKNOWN) };
    return { agentConfig: asSecret(webhooks.mergedConfig(texts)) };
  },
};

/** Calls a function. Returns invalid arguments as failures of the call, and throws every other error. */
export async function invoke(request: InvokeRequest, deps: FunctionDeps): Promise<InvokeResponse> {
  const called = functions[request.getTok()];
  if (!called) throw unknownToken(request.getTok(), Object.keys(functions));
  const { props } = fromEngine(request.getArgs());
  const visible = fromEngine(request.getArgs(), { hidesSecrets: true }).props;
  const given = Object.entries(props).filter(([, value]) => value !== null);
  const response = new InvokeResponse();
  try {
    const result = await called(Object.fromEntries(given), deps, visible);
    response.setReturn(toEngine(result));
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    response.setFailuresList(error.issues.map(({ path, message }) => checkFailure(message, path.join("."))));
  }
  return response;
}
