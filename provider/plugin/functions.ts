import { CheckFailure, type InvokeRequest, InvokeResponse } from "@pulumi/pulumi/proto/provider_pb";
import { z } from "zod";
import { UserError } from "../api/apiErrors";
import type { Settings } from "../api/config";
import type { EndpointsApi } from "../api/endpoints";
import type { JsonObject } from "../api/json";
import { UNKNOWN } from "../endpoint/documents";
import { unknownToken } from "../endpoint/errors";
import {
  filterArguments,
  findEndpoint,
  findEndpoints,
  queryArguments,
  typeWarnings,
} from "../endpoint/lookup";
import { expressionsOf } from "../policy/expressions";
import { resourceWarnings } from "../policy/resourceWarnings";
import type { RunNotes } from "./resources";
import { received, toStruct } from "./values";

/** What the functions need of the plugin. */
export interface FunctionDeps {
  /** The service. Throws if a required setting is missing. */
  api(): EndpointsApi;
  run: RunNotes;
  policyWarnings(): Settings["policyWarnings"];
  webhooks: WebhookFunctions;
  warn(warning: string): void;
}

/** The functions of `sdk/webhooks`. They throw a `UserError` if something cannot be merged. */
export interface WebhookFunctions {
  policyData(policy: object | string): JsonObject;
  mergedPolicy(policy: object, verifications: string[], warn: (warning: string) => void): object;
  mergedConfig(configs: readonly (string | null)[]): string;
}

interface PluginFunction {
  /**
   * @param secrets The arguments that contain a secret.
   * @param visible The arguments with unknown values in place of secrets.
   */
  call(
    args: JsonObject,
    deps: FunctionDeps,
    asked: { secrets: ReadonlySet<string>; visible: JsonObject },
  ): Promise<JsonObject>;
  /** Whether the result is secret as a whole. */
  isSecret?: boolean;
}

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
 * The functions of the package. A data source may have to show what an earlier call created, so it never joins a reading that
 * has begun.
 */
export const functions: Record<string, PluginFunction> = {
  /** Reads one endpoint of any type by id or URL, in a preview too. */
  "endpoints:index:getEndpoint": {
    call: (args, { api, run }) =>
      findEndpoint(api(), queryArguments.parse(args), { fresh: true }, run.secretUrls),
  },

  /** Reads all endpoints of the account, of any type, that match the filters, in a preview too. */
  "endpoints:index:getEndpoints": {
    call: async (args, { api, warn }) => {
      const filter = filterArguments.parse(args);
      for (const warning of typeWarnings(filter)) warn(warning);
      const endpoints = await findEndpoints(api(), filter, { fresh: true });
      return { endpoints, ids: endpoints.map(({ id }) => id) };
    },
  },

  /**
   * Adds webhook verifications before a policy's own actions on requests. The result is a policy for a `CloudEndpoint`, and must
   * contain an action that answers.
   */
  "endpoints:index:mergeTrafficPolicy": {
    isSecret: true,
    call: async (args, { webhooks, run: { checkedExpressions }, ...deps }, { secrets, visible }) => {
      const inputs = z.strictObject({ policy, verifications: policies });
      const { policy: given, verifications } = inputs.parse(args);
      if (given === UNKNOWN || verifications.includes(UNKNOWN)) return { trafficPolicy: UNKNOWN };
      const data = webhooks.policyData(given);
      const trafficPolicy = webhooks.mergedPolicy(data, verifications, deps.warn);
      // The result is secret as a whole, and of a secret policy the endpoint's check can say little.
      const mode = deps.policyWarnings();
      const shown = mode === "off" ? {} : { trafficPolicy: visible["policy"] };
      const isChecked = (expression: string) => checkedExpressions.has(expression);
      const options = { isPart: true, isChecked, revealed: secrets.has("policy") ? data : undefined };
      const warnings = resourceWarnings(shown, undefined, options).map((one) => `mergeTrafficPolicy: ${one}`);
      if (mode === "error" && warnings.length > 0) throw new UserError(warnings.join("\n"));
      for (const warning of warnings) deps.warn(warning);
      for (const text of expressionsOf(trafficPolicy)) checkedExpressions.add(text);
      return { trafficPolicy };
    },
  },

  /** Makes one configuration file for an agent with the endpoints of several webhook verifications. */
  "endpoints:index:mergeAgentConfigs": {
    isSecret: true,
    call: async (args, { webhooks }) => {
      const { configs: texts } = z.strictObject({ configs }).parse(args);
      if (texts.includes(UNKNOWN)) return { agentConfig: UNKNOWN };
      return { agentConfig: webhooks.mergedConfig(texts) };
    },
  },
};

/** Calls a function. Returns invalid arguments as failures of the call, and throws every other error. */
export async function invoke(request: InvokeRequest, deps: FunctionDeps): Promise<InvokeResponse> {
  const called = functions[request.getTok()];
  if (!called) throw unknownToken(request.getTok(), Object.keys(functions));
  const { props, secrets } = received(request.getArgs());
  const visible = received(request.getArgs(), { hidesSecrets: true }).props;
  const given = Object.entries(props).filter(([, value]) => value !== null);
  const response = new InvokeResponse();
  try {
    const result = await called.call(Object.fromEntries(given), deps, { secrets, visible });
    response.setReturn(toStruct(result, new Set(called.isSecret ? Object.keys(result) : [])));
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    for (const issue of error.issues) {
      const failure = new CheckFailure();
      failure.setProperty(issue.path.join("."));
      failure.setReason(issue.message);
      response.addFailures(failure);
    }
  }
  return response;
}
