import { z } from "zod";
import { normalizeUrl, urlProblem } from "../../provider/api/url";
import type { WebhookPlatform } from "./platforms";

/*
 * The inputs of a WebhookVerification. The comment on a field is its documentation, the schema its check. No message quotes
 * a value, since each may be a secret in the wrong place.
 */

/** The plans of an account: those of the public service, and the paid ones that the contract names. */
export const plans = ["free", "hobbyist", "pay-as-you-go", "pro", "enterprise"] as const;
export type Plan = (typeof plans)[number];

const text = (example: string) => z.string({ error: `must be text, as in ${example}` });

/** The agent that verifies. */
export const agentFields = {
  /** The endpoint's name in the agent's configuration. Default: the component's name. */
  name: text("hooks").min(1, "must not be empty").optional(),
  /** The address that the agent opens, `https` or `http`. Default: a random one, or the account's own. */
  url: text("https://hooks.example.com")
    .check((context) => {
      const problem = urlProblem(context.value) ?? wrongScheme(context.value);
      if (problem) context.issues.push({ code: "custom", input: undefined, message: problem });
    })
    .transform((url) => normalizeUrl(url) ?? url)
    .optional(),
  /** The application's address: a port of the agent's machine, `8080`, or a URL without a path, `http://localhost:8080`. */
  upstream: z
    .custom<number | string>((value) => upstreamProblem(value) === undefined, {
      error: ({ input }) => upstreamProblem(input),
    })
    .transform((upstream) => (/^\d+$/.test(`${upstream}`) ? Number(upstream) : upstream)),
};

/** The inputs by name. */
export const webhookFields = {
  /**
   * The platform that sends the webhooks, by its identifier in `webhookPlatforms`: `github`, `calendly`. An unknown
   * identifier causes a warning and is passed on, because the service may support new platforms.
   */
  platform: text("github").min(1, "must not be empty") as z.ZodType<
    WebhookPlatform | (string & {}),
    WebhookPlatform | (string & {})
  >,

  /**
   * The platform's secret, or a reference to the service's vault: `${secrets.get('vault', 'name')}`. The output
   * `secretSource` names where to get it. For `sns` it is the owner of the topic, 12 digits. It is always a secret in the
   * state. Every platform needs it.
   */
  secret: text("the key that the platform shows").optional(),

  /**
   * Whether to refuse unverified requests with status 403. With `false`, later actions of the policy run and see the
   * result in `actions.ngrok.verify_webhook.verified`. Default: `true`.
   */
  enforce: z.boolean({ error: "must be true or false" }).optional(),

  /**
   * CEL expressions that select the requests to verify; all must be true: `req.url.path.startsWith('/brex')`. All other
   * requests continue unverified, so let another rule refuse them. Header names are in lower case:
   * `req.headers['x-github-event']`. Default: every request is verified.
   */
  expressions: z
    .array(text("req.url.path.startsWith('/brex')").min(1, "must not hold an empty expression"), {
      error: "must be a list of CEL expressions",
    })
    .min(1, "must hold an expression; leave it out to verify every request")
    .optional(),

  /** The agent for the output `agentConfig`. Default: none, if you use only the policy. */
  agent: z
    .strictObject(agentFields, { error: "must hold an upstream, and may hold a name and a url" })
    .optional(),

  /** Version of the agent's configuration file. Default: `3`, which agents support from version 3.16 on. */
  agentConfigVersion: z.literal([2, 3], { error: "must be 2 or 3" }).optional(),

  /**
   * The expected verifications per month: the number of deliveries, or double that number if both a cloud endpoint and
   * its agent verify them. A free account verifies 500 a month; a warning says if the components of the stack exceed
   * that. Default: not counted.
   */
  expectedDeliveriesPerMonth: z
    .number({ error: "must be a number" })
    .min(0, "must not be negative")
    .optional(),

  /**
   * The account's plan. Only `free` limits verifications. The public service has `free`, `hobbyist` and `pay-as-you-go`;
   * `pro` and `enterprise` are the older paid plans. Default: `free`.
   */
  plan: z.enum(plans, { error: `must be ${plans.slice(0, -1).join(", ")} or ${plans.at(-1)}` }).optional(),
};

const schema = z.object(webhookFields);

/** The inputs as a program writes them, once they are known. */
export type WebhookSettingsWritten = z.input<typeof schema>;
/** The inputs once they are checked. */
export type WebhookSettings = z.output<typeof schema>;
export type WebhookField = keyof typeof webhookFields;
export type AgentSettings = NonNullable<WebhookSettings["agent"]>;

/** The value in its checked form, or its mistakes, each beginning with the field's name. */
export function checkField<K extends WebhookField>(
  field: K,
  value: unknown,
): { value: WebhookSettings[K] } | { problems: string[] } {
  const parsed = webhookFields[field].safeParse(value);
  if (parsed.success) return { value: parsed.data as WebhookSettings[K] };
  return {
    problems: parsed.error.issues.map((issue) => {
      const name = [field, ...issue.path.filter((part) => typeof part === "string")].join(".");
      return `${name} ${value === undefined ? "is missing: it " : ""}${issue.message}`;
    }),
  };
}

/** The mistake of an argument that does not exist, with a suggestion. */
export function unknownField(name: string): string | undefined {
  if (Object.hasOwn(webhookFields, name)) return undefined;
  const meant =
    name === "provider"
      ? "did you mean platform?"
      : `the inputs are ${Object.keys(webhookFields).join(", ")}`;
  return `${name} is no input of a webhook verification; ${meant}`;
}

/** Why this version of the agent's configuration file cannot express an agent; undefined where it can. */
export function agentProblem({ url }: AgentSettings, version: 2 | 3): string | undefined {
  if (version === 3 || !url || !/:\d+$/.test(url)) return undefined;
  return "agent.url has a port, which version 2 of the configuration cannot name; leave the port out, or use version 3";
}

function wrongScheme(url: string): string | undefined {
  return /^https?:/i.test(url.trim())
    ? undefined
    : "must be of http or https, since only those carry webhooks";
}

function upstreamProblem(value: unknown): string | undefined {
  const wrong = "must be a port from 1 to 65535, or a URL, as in http://localhost:8080";
  const port = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  if (typeof port === "number") {
    return Number.isInteger(port) && port >= 1 && port <= 65_535 ? undefined : wrong;
  }
  if (typeof value !== "string" || !/^https?:\/\/./.test(value) || !URL.canParse(value)) return wrong;
  const { pathname, search, hash } = new URL(value);
  if (pathname === "/" && search === "" && hash === "") return undefined;
  return "has a path, query or fragment; agents take scheme, host and port, as in http://localhost:8080, and pass each request's own path on";
}
