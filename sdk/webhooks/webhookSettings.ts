import { z } from "zod";
import { nearName } from "../../provider/api/text";
import { normalizeUrl, urlProblem } from "../../provider/api/url";
import { plans, type WebhookAgent, type WebhookSettings, type WebhookSettingsWritten } from "./webhookArgs";

/* The checks of a WebhookVerification's inputs. No message quotes a value, because it may be a secret in the wrong place. */

type Checks<T> = { [Name in keyof T]-?: z.ZodType<unknown, T[Name] | undefined> };

const text = (example: string) => z.string({ error: `must be text, as in ${example}` });

/** The checks of its agent. */
export const agentFields = {
  name: text("hooks").min(1, "must not be empty").optional(),
  url: text("https://hooks.example.com")
    .check((context) => {
      const problem = urlProblem(context.value) ?? wrongScheme(context.value);
      if (problem) context.issues.push({ code: "custom", input: undefined, message: problem });
    })
    .transform((url) => normalizeUrl(url) ?? url)
    .optional(),
  upstream: z
    .custom<number | string>((value) => upstreamProblem(value) === undefined, {
      error: ({ input }) => upstreamProblem(input),
    })
    .transform((upstream) => (/^\d+$/.test(`${upstream}`) ? Number(upstream) : upstream)),
} satisfies Checks<WebhookAgent>;

/** The checks of the inputs, by name. */
export const webhookFields = {
  platform: text("github").min(1, "must not be empty"),

  secret: text("the key that the platform shows").optional(),

  enforce: z.boolean({ error: "must be true or false" }).optional(),

  expressions: z
    .array(text("req.url.path.startsWith('/brex')").min(1, "must not contain an empty expression"), {
      error: "must be a list of CEL expressions",
    })
    .min(1, "must contain an expression; remove it to verify every request")
    .optional(),

  agent: z
    .strictObject(agentFields, { error: "must have an upstream, and can have a name and a url" })
    .optional(),

  agentConfigVersion: z.literal([2, 3], { error: "must be 2 or 3" }).optional(),

  expectedDeliveriesPerMonth: z
    .number({ error: "must be a number" })
    .min(0, "must not be negative")
    .optional(),

  plan: z.enum(plans, { error: `must be ${plans.slice(0, -1).join(", ")} or ${plans.at(-1)}` }).optional(),
} satisfies Checks<WebhookSettingsWritten>;

export type WebhookField = keyof typeof webhookFields;

/** The value in its checked form, or its mistakes, each beginning with the field's name. */
export function checkField<K extends WebhookField>(
  field: K,
  value: unknown,
): { value: WebhookSettings[K] } | { problems: string[] } {
  const parsed = webhookFields[field].safeParse(value);
  if (parsed.success) return { value: parsed.data as WebhookSettings[K] };
  const { issues } = parsed.error;
  // If an input of an agent seems to be missing, it may have a wrong name.
  const misnamed = issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => `${field}.${key} is no input; ${field} ${issue.message}`)
      : [],
  );
  if (misnamed.length > 0) return { problems: misnamed };
  return {
    problems: issues.map((issue) => {
      const name = [field, ...issue.path.filter((part) => typeof part === "string")].join(".");
      return `${name} ${value === undefined ? "is missing: it " : ""}${issue.message}`;
    }),
  };
}

/** The mistake of an argument that does not exist, with a suggestion. */
export function unknownField(name: string): string | undefined {
  if (Object.hasOwn(webhookFields, name)) return undefined;
  const names = Object.keys(webhookFields);
  const near = nearName(
    name,
    names.map((known) => (known === "platform" ? [known, "provider"] : known)),
  );
  return `${name} is no input of a webhook verification; ${near ? `did you mean ${near}?` : `the inputs are ${names.join(", ")}`}`;
}

/** Why this version of the agent's configuration file cannot express an agent; undefined if it can. */
export function agentProblem({ url }: WebhookAgent, version: 2 | 3): string | undefined {
  if (version === 3 || !url || !/:\d+$/.test(url)) return undefined;
  return "agent.url has a port, which version 2 of the configuration cannot express; remove the port, or use version 3";
}

function wrongScheme(url: string): string | undefined {
  return /^https?:/i.test(url.trim())
    ? undefined
    : "must be an http or https URL, because webhooks use no other scheme";
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
  return "has a path, query or fragment; write only scheme, host and port, as in http://localhost:8080, because agents keep each request's own path";
}
