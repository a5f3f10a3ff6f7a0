import { isMapping } from "../../../provider/data/json";
import { evaluate, type RequestFunctions, type Variables } from "./evaluate";
import { basicAuth } from "./functions";
import type { PolicyReply, PolicyRequest } from "./messages";
import type { Policy } from "./policy";
import type { SecretMask } from "./secrets";
import { notSimulated, type TracedRule } from "./trace";
import { endpointValues, requestFunctions, requestValues, responseValues } from "./values";

/* The run of a policy: what its expressions and actions can read and change. */

/** An endpoint to which a request is sent. */
export interface Target {
  /** The URL, with scheme and host: `https://shop.example.com`. */
  url: string;
  id?: string | undefined;
  /** The policy, as data or text. */
  policy?: unknown;
  /** The application of an agent's endpoint. Missing for a cloud endpoint. */
  application?: ((request: PolicyRequest) => Promise<PolicyReply>) | undefined;
}

export type Phase = keyof Policy;

/** What a request depends on apart from its content. */
export interface RequestDeps {
  /** Undefined if another endpoint forwarded the request, because the documentation does not describe that connection. */
  clientIp: string | undefined;
  /** The values of further variables below `conn`, by their whole names: `conn.geo.country_code`. */
  conn: Variables;
  now: () => Date;
  vaults: Vaults;
  /** Finds the internal endpoint of the account with this URL. */
  findInternal: (url: string) => Target | undefined;
  /** Whether `rate-limit` limits the request. Default: not known. */
  rateLimited?: boolean | undefined;
  /** The endpoints that have forwarded the request. Default: none. */
  forwardedBy?: readonly string[];
}

/** The entries of vaults by name. */
type Vaults = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** What the runs of all policies that answer one request share. */
interface SharedByRuns {
  trace: TracedRule[];
  secrets: SecretMask;
}

/** The run of one endpoint's policy for one request. */
export class PolicyRun {
  phase: Phase = "on_tcp_connect";
  /** The rule's expression or action that runs, for messages. */
  place = "";
  /** The reply. Undefined before the phase on_http_response. */
  reply: PolicyReply | undefined;
  /** The variables that `set-vars` set in this phase. */
  vars: Record<string, unknown> = {};
  private readonly results: Record<string, () => unknown> = {};
  /** Whether an expression has read a secret, so that variables may contain it. */
  private hasReadSecret = false;

  constructor(
    readonly target: Target,
    readonly request: PolicyRequest,
    readonly deps: RequestDeps,
    readonly shared: SharedByRuns,
  ) {}

  /** Evaluates the expression of a rule. */
  condition(expression: string): boolean {
    const value = this.evaluate(expression);
    return typeof value === "boolean"
      ? value
      : notSimulated(`the expression ${expression}, which gives no truth value,`);
  }

  /** Sets a variable below `actions.ngrok`, which later expressions can read. */
  set(name: string, value: unknown): void {
    this.results[`actions.ngrok.${name}`] = () => value;
  }

  /** Replaces the expressions in a text, or in all texts of a value. */
  interpolate<T>(value: T): T {
    return mapLeaves(value, (leaf) => (typeof leaf === "string" ? this.interpolated(leaf) : leaf)) as T;
  }

  /** Replaces expressions like `interpolate`, but a text that is a single expression becomes the expression's value. */
  valueOf(value: unknown): unknown {
    return mapLeaves(value, (leaf) => {
      // The documentation does not say whether a number in a policy is an integer or a double of CEL.
      if (typeof leaf === "number") notSimulated(`the type of ${leaf}`);
      if (typeof leaf !== "string") return leaf;
      const [, expression] = /^\$\{([^{}]*)\}$/.exec(leaf) ?? [];
      return expression === undefined ? this.interpolated(leaf) : this.evaluate(expression);
    });
  }

  private interpolated(text: string): string {
    if (text.replace(EXPRESSION, "").includes("${")) notSimulated(`the text ${text}`);
    return text.replace(EXPRESSION, (_, expression: string) => textOf(this.evaluate(expression)));
  }

  private evaluate(expression: string): unknown {
    const { secrets } = this.shared;
    const { phase } = this;
    const value = evaluate(expression, { values: this.values(), functions: this.functions(), phase });
    const readsSecret = /\bsecrets\s*\.|\bbasic_auth\s*\.\s*encode|authorization/i.test(expression);
    this.hasReadSecret ||= readsSecret;
    // Masks the value, too, because functions may have changed the secret.
    if (readsSecret || (this.hasReadSecret && /\b(?:vars|actions)\b/.test(expression))) secrets.add(value);
    return value;
  }

  private values(): Variables {
    const { conn, now, clientIp } = this.deps;
    const time = now();
    return {
      ...conn,
      ...endpointValues(this.target, time),
      ...requestValues(this.request, time),
      ...(this.reply && responseValues(this.reply)),
      ...(clientIp !== undefined && { "conn.client_ip": () => clientIp }),
      vars: () => this.vars,
      ...this.results,
    };
  }

  private functions(): RequestFunctions {
    return {
      ...requestFunctions(this.request, this.reply),
      "secrets.get": (vault: string, name: string) =>
        vaultEntry(this.deps.vaults, vault, name) ??
        notSimulated(`the entry ${name} of the vault ${vault}, which is not given,`),
      "basic_auth.encode": (user: string, password: string) => {
        this.shared.secrets.add(password);
        return basicAuth(user, password);
      },
    };
  }
}

/** The entry of a vault. Undefined if it is not given, also for a name such as `toString` that every object has. */
function vaultEntry(vaults: Vaults, vault: string, name: string): string | undefined {
  const entries = Object.hasOwn(vaults, vault) ? vaults[vault] : undefined;
  return entries && Object.hasOwn(entries, name) ? entries[name] : undefined;
}

export const EXPRESSION = /\$\{([^{}]*)\}/g;

/** Copies a value, with each part that is neither a list nor a map replaced by `change`. */
export function mapLeaves(value: unknown, change: (leaf: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => mapLeaves(item, change));
  if (!isMapping(value)) return change(value);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, mapLeaves(part, change)]));
}

/** A value as text. The documentation does not say how the service writes lists, maps, null and numbers with a fraction. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "bigint" || typeof value === "boolean") return `${value}`;
  return value instanceof Date ? dateText(value) : notSimulated("a value of this type in a text");
}

/** A timestamp as the service writes it: `2024-06-24T15:30:00Z`. The documentation does not say how it writes fractions. */
const dateText = (date: Date) =>
  date.getUTCMilliseconds() === 0
    ? date.toISOString().replace(".000Z", "Z")
    : notSimulated("a time with a fraction of a second as text");
