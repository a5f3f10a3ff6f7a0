import { isMapping } from "../data/json";
import { evaluate, type RequestFunctions, type Variables } from "./evaluate";
import { basicAuth } from "./functions";
import type { PolicyReply, PolicyRequest } from "./messages";
import { matchesOf } from "./patterns";
import type { Policy } from "./policy";
import type { Secrets } from "./secrets";
import type { TimeLimit } from "./timeLimit";
import { notSimulated, type TracedRule } from "./trace";
import { endpointValues, requestFunctions, requestValues, responseValues } from "./values";

/* What the expressions and actions of a policy can read and change while it runs. */

/** An endpoint that can get requests. */
export interface Target {
  /** With a scheme and a host: `https://shop.example.com`. */
  url: string;
  id?: string | undefined;
  /** The policy, as data or text. */
  policy?: unknown;
  /** The application of an agent's endpoint. Missing for a cloud endpoint. */
  application?: ((request: PolicyRequest) => Promise<PolicyReply>) | undefined;
}

export type Phase = keyof Policy;

export interface RequestDeps {
  /** Undefined if another endpoint forwarded the request, because nothing is documented of its connection. */
  clientIp: string | undefined;
  /** The values of further variables by their names: `conn.geo.country_code`. */
  given: Variables;
  now: () => Date;
  vaults: Vaults;
  /** The internal endpoint of the account with this URL. */
  internal: (url: string) => Target | undefined;
  /** What `rate-limit` decides. Default: not known. */
  rateLimited?: boolean | undefined;
  /** The endpoints that have forwarded the request. Default: none. */
  forwardedBy?: readonly string[];
}

/** The entries of vaults by name. */
type Vaults = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** What the policies that answer one request share. */
interface SharedByRuns {
  trace: TracedRule[];
  secrets: Secrets;
  timeLimit: TimeLimit;
}

/** The run of the policy of one endpoint. */
export class PolicyRun {
  phase: Phase = "on_tcp_connect";
  /** What runs in the policy, for messages. */
  place = "";
  /** In the phase of responses. */
  reply: PolicyReply | undefined;
  /** Those of the phase. */
  vars: Record<string, unknown> = {};
  private readonly results: Record<string, () => unknown> = {};
  /** Whether variables may contain secrets. */
  private hasReadSecret = false;

  constructor(
    readonly target: Target,
    readonly request: PolicyRequest,
    readonly deps: RequestDeps,
    readonly shared: SharedByRuns,
  ) {}

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

  /** All matches of a pattern. */
  matches(text: string, pattern: string): RegExpExecArray[] {
    return this.shared.timeLimit.spend(() => matchesOf(text, pattern));
  }

  /** Replaces the expressions in a text, or in all texts of a value. */
  interpolate<T>(value: T): T {
    return eachLeaf(value, (leaf) => (typeof leaf === "string" ? this.interpolated(leaf) : leaf)) as T;
  }

  /** The same, but a text that is one expression becomes its value. */
  valueOf(value: unknown): unknown {
    return eachLeaf(value, (leaf) => {
      // Whether it is an integer of CEL is open.
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
    const { secrets, timeLimit } = this.shared;
    const { phase } = this;
    const value = evaluate(expression, {
      values: this.values(),
      functions: this.functions(),
      phase,
      timeLimit,
    });
    const readsSecret = /\bsecrets\s*\.|\bbasic_auth\s*\.\s*encode|authorization/i.test(expression);
    this.hasReadSecret ||= readsSecret;
    // Functions may have changed the secret beyond recognition.
    if (readsSecret || (this.hasReadSecret && /\b(?:vars|actions)\b/.test(expression))) secrets.add(value);
    return value;
  }

  private values(): Variables {
    const { given, now, clientIp } = this.deps;
    const time = now();
    return {
      ...given,
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

/** Undefined if it is not given, also under a name of a property of every object. */
function vaultEntry(vaults: Vaults, vault: string, name: string): string | undefined {
  const entries = Object.hasOwn(vaults, vault) ? vaults[vault] : undefined;
  return entries && Object.hasOwn(entries, name) ? entries[name] : undefined;
}

export const EXPRESSION = /\$\{([^{}]*)\}/g;

/** The value with another value in place of each part that is no list and no map. */
export function eachLeaf(value: unknown, change: (leaf: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => eachLeaf(item, change));
  if (!isMapping(value)) return change(value);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, eachLeaf(part, change)]));
}

/** As it is written into a text. How the service writes lists, maps, null and numbers with a fraction is open. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "bigint" || typeof value === "boolean") return `${value}`;
  return value instanceof Date ? dateText(value) : notSimulated("a value of this type in a text");
}

/** As the service writes timestamps: `2024-06-24T15:30:00Z`. How many digits it writes of a fraction is open. */
const dateText = (date: Date) =>
  date.getUTCMilliseconds() === 0
    ? date.toISOString().replace(".000Z", "Z")
    : notSimulated("a time with a fraction of a second as text");
