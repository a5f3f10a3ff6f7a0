import { z } from "zod";
import { policyFromText } from "../../../provider/data/index";
import { agentFields } from "../../webhooks/webhookChecks";

/*
 * The agent's configuration file. As with the agent, an unknown key is an error, so that spelling mistakes are found. Messages
 * contain no values, because a value can be a secret in the wrong place.
 */

/** An endpoint that an agent with this configuration opens. */
interface ConfiguredEndpoint {
  /** If it is undefined, the service chooses a URL. */
  url: string | undefined;
  policy: unknown;
  /** The URL of the local application. */
  upstream: string;
}

const configuration = z.discriminatedUnion("version", [
  z.strictObject({
    version: z.literal(3),
    agent: z.looseObject({}),
    endpoints: z.array(
      z.strictObject({
        name: z.string(),
        url: z.string().optional(),
        traffic_policy: z.unknown().optional(),
        upstream: z.strictObject({ url: agentFields.upstream }),
      }),
    ),
  }),
  z.strictObject({
    version: z.literal(2),
    tunnels: z.record(
      z.string(),
      z
        .strictObject({
          proto: z.literal("http"),
          addr: agentFields.upstream,
          domain: z.string().optional(),
          schemes: z.tuple([z.enum(["http", "https"])]).optional(),
          verify_webhook: z.strictObject({ provider: z.string(), secret: z.string().optional() }).optional(),
          traffic_policy: z.unknown().optional(),
        })
        .refine((tunnel) => !tunnel.verify_webhook || tunnel.traffic_policy === undefined, {
          error: "verify_webhook and traffic_policy exclude each other here",
        }),
    ),
  }),
]);

/** @throws Error if the text is no configuration that `WebhookVerification` or `mergeAgentConfigs` could have written. */
export function agentEndpoints(text: string): ConfiguredEndpoint[] {
  const parsed = policyFromText(text);
  if ("problem" in parsed) throw new Error(`the agent's configuration ${parsed.problem}`);
  const { data, error } = configuration.safeParse(parsed.data);
  if (!data) {
    const [issue] = error.issues;
    const place = issue?.path.join(".") || "the top";
    throw new Error(`the test kit does not support the agent's configuration at ${place}: ${issue?.message}`);
  }
  if (data.version === 3)
    return data.endpoints.map(({ url, traffic_policy: policy = {}, upstream }) => ({
      url,
      policy,
      upstream: localUrl(upstream.url),
    }));
  return Object.values(data.tunnels).map((tunnel) => ({
    url: tunnel.domain && `${tunnel.schemes?.[0] ?? "https"}://${tunnel.domain}`,
    policy: tunnel.verify_webhook ? verifying(tunnel.verify_webhook) : (tunnel.traffic_policy ?? {}),
    upstream: localUrl(tunnel.addr),
  }));
}

/** The policy that `verify_webhook` stands for. */
const verifying = (config: object) => ({
  on_http_request: [{ actions: [{ type: "verify-webhook", config }] }],
});

const localUrl = (upstream: number | string) =>
  typeof upstream === "number" ? `http://127.0.0.1:${upstream}` : upstream;
