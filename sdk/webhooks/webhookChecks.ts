import { z } from "zod";
import { didYouMean, type JsonObject, normalizeUrl, UserError, urlProblem } from "../../provider/data/index";
import { standInsIn } from "../../provider/endpoint/standIns";
import { policyData } from "../traffic-policy/policy/index";
import { platformInfo, secretProblem, vaultReference } from "../traffic-policy/webhooks/index";
import {
  agentConfigVersions,
  plans,
  type WebhookAgent,
  type WebhookInputs,
  type WebhookSettings,
} from "./webhookArgs";

/*
 * The checks of a WebhookVerification's inputs, without the service. No message quotes a value, because it may be a secret in
 * the wrong place.
 */

type FieldChecks<T> = { [Name in keyof T]-?: z.ZodType<unknown, T[Name] | undefined> };

const textLike = (example: string) => z.string({ error: `must be text, as in ${example}` });

/** The checks of the input `agent`, by name. */
export const agentFields = {
  name: textLike("hooks").min(1, "must not be empty").optional(),
  url: textLike("https://hooks.example.com")
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
} satisfies FieldChecks<WebhookAgent>;

/** The checks of the inputs, by name. */
export const webhookFields = {
  platform: textLike("github").min(1, "must not be empty"),

  secret: textLike("the key that the platform shows").optional(),

  enforce: z.boolean({ error: "must be true or false" }).optional(),

  expressions: z
    .array(textLike("req.url.path.startsWith('/brex')").min(1, "must not contain an empty expression"), {
      error: "must be a list of CEL expressions",
    })
    .min(1, "must contain an expression; remove it to verify every request")
    .optional(),

  agent: z
    .strictObject(agentFields, { error: "must have an upstream, and can have a name and a url" })
    .optional(),

  agentConfigVersion: z.literal(agentConfigVersions, { error: "must be 2 or 3" }).optional(),

  expectedDeliveriesPerMonth: z
    .number({ error: "must be a number" })
    .min(0, "must not be negative")
    .optional(),

  plan: z.enum(plans, { error: `must be ${plans.slice(0, -1).join(", ")} or ${plans.at(-1)}` }).optional(),
} satisfies FieldChecks<WebhookInputs>;

export type WebhookField = keyof typeof webhookFields;

/** A mistake in an input, or in a part of it. The reason continues the sentence that the path begins. */
export interface Mistake {
  path: string;
  reason: string;
}

/** The value in its checked form, or its mistakes. */
export function checkField<K extends WebhookField>(
  field: K,
  value: unknown,
): { value: WebhookSettings[K] } | { mistakes: Mistake[] } {
  const parsed = webhookFields[field].safeParse(value);
  if (parsed.success) return { value: parsed.data as WebhookSettings[K] };
  const { issues } = parsed.error;
  // If an input of an agent seems to be missing, it may have a wrong name.
  const misnamed = issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => ({
          path: `${field}.${key}`,
          reason: `is no input; ${field} ${issue.message}`,
        }))
      : [],
  );
  if (misnamed.length > 0) return { mistakes: misnamed };
  return {
    mistakes: issues.map((issue) => ({
      path: [field, ...issue.path.filter((part) => typeof part === "string")].join("."),
      reason: `${value === undefined ? "is missing: it " : ""}${issue.message}`,
    })),
  };
}

/** The mistake of an argument that does not exist, with a suggestion. */
export function unknownField(name: string): Mistake | undefined {
  if (Object.hasOwn(webhookFields, name)) return undefined;
  const names = Object.keys(webhookFields);
  const known = names.map((known) => (known === "platform" ? [known, "provider"] : known));
  const hint = didYouMean(name, known, `the inputs are ${names.join(", ")}`);
  return { path: name, reason: `is no input of a webhook verification${hint}` };
}

/** The mistake of an agent that this version of the configuration file cannot express; undefined if there is none. */
export function agentMistake({ url }: WebhookAgent, version: 2 | 3): Mistake | undefined {
  if (version === 3 || !url || !/:\d+$/.test(url)) return undefined;
  const reason =
    "has a port, which version 2 of the configuration cannot express; remove the port, or use version 3";
  return { path: "agent.url", reason };
}

function wrongScheme(url: string): string | undefined {
  return /^https?:/i.test(url.trim())
    ? undefined
    : "must be an http or https URL, because webhooks use no other scheme";
}

function upstreamProblem(value: unknown): string | undefined {
  const wrong = "must be a port from 1 to 65535, or a URL, as in http://localhost:8080";
  const port = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  if (typeof port === "number")
    return Number.isInteger(port) && port >= 1 && port <= 65_535 ? undefined : wrong;
  if (typeof value !== "string" || !/^https?:\/\/./.test(value) || !URL.canParse(value)) return wrong;
  const { pathname, search, hash } = new URL(value);
  if (pathname === "/" && search === "" && hash === "") return undefined;
  return "has a path, query or fragment; write only scheme, host and port, as in http://localhost:8080, because agents keep each request's own path";
}

/** Whether platform and secret seem to be swapped: the catalogue has a platform with the name of the secret. */
export function areSwapped(platform: string, secret: string | undefined): boolean {
  return !platformInfo(platform) && secret !== undefined && platformInfo(secret) !== undefined;
}

/** The reason why a text is neither a secret of the platform nor a reference to one in the vault; undefined if it may be. */
export function secretMistake(platform: string, secret: string | undefined): string | undefined {
  if (secret === undefined) {
    const { name = "the platform", origin } = platformInfo(platform) ?? {};
    return `is missing: ${origin === "account" ? `for ${name} it is the sending account` : `${name} signs with one`}`;
  }
  // These texts are the same everywhere, so anybody could sign with them.
  const [standIn] = standInsIn(secret);
  if (standIn !== undefined || vaultReference(secret)) return standIn;
  if (/\$\{/.test(secret))
    return "contains ${, which starts an expression in a traffic policy; choose another secret, or store it in the service's vault and give the expression that reads it from there";
  return secretProblem(platform, secret);
}

/** The policy of a merge as data. @throws UserError for text that is no policy, and for values that JSON cannot hold. */
export function policyToMerge(policy: object | string): JsonObject {
  const problems = standInsIn(policy).map((problem) => `mergeTrafficPolicy: the policy ${problem}`);
  if (problems.length > 0) throw new UserError(problems.join("\n"));
  return policyData(policy);
}
