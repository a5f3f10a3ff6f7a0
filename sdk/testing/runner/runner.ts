import { isDeepStrictEqual } from "node:util";
import { isMapping } from "../../../provider/api/json";
import { actions as catalogue, type KeyInfo } from "../../../provider/policy/catalogue";
import { type ActionContext, actions, type End, type InterpolationOptions } from "./actions";
import { Budget } from "./budget";
import { evaluate, type RequestFunctions, type Values } from "./expressions";
import { basicAuth } from "./functions";
import { matchesOf } from "./patterns";
import { type Policy, type Rule, readPolicy } from "./policy";
import { checkRequest } from "./request";
import { Secrets } from "./secrets";
import { secretOf, type Verdict, type Verification, verifyWebhook } from "./signatures";
import {
  ApplicationFailed,
  ConnectionClosed,
  NotSimulated,
  RequestNotSimulated,
  refuse,
  type TracedRule,
} from "./trace";
import {
  endpointValues,
  type PolicyEndpoint,
  type PolicyReply,
  type PolicyRequest,
  pathsOf,
  requestFunctions,
  requestValues,
  responseValues,
} from "./values";

/*
 * Answers requests by traffic policies on this machine: phases, rules, expressions and actions in the documented order. What the
 * documentation leaves open ends the run with an error, so that no test passes by a guess.
 */

/** An endpoint that can get requests. */
export interface Target extends PolicyEndpoint {
  /** The policy, as data or text. */
  policy?: unknown;
  /** The application of an agent's endpoint. Missing for a cloud endpoint. */
  application?: ((request: PolicyRequest) => Promise<PolicyReply>) | undefined;
}

type Phase = keyof Policy;

export interface RequestDeps {
  /** Undefined if another endpoint forwarded the request, because nothing is documented of its connection. */
  clientIp: string | undefined;
  /** The values of further variables by their names: `conn.geo.country_code`. */
  given: Values;
  now: () => Date;
  vaults: Readonly<Record<string, Record<string, string>>>;
  /** The internal endpoint of the account with this URL. */
  internal: (url: string) => Target | undefined;
  /** What `rate-limit` decides. Default: not known. */
  rateLimited?: boolean | undefined;
  /** The endpoints that have forwarded the request. Default: none. */
  forwardedBy?: readonly string[];
}

/**
 * @throws RequestFailed if there is no reply.
 */
export async function answerRequest(
  target: Target,
  request: PolicyRequest,
  deps: RequestDeps,
): Promise<{ reply: PolicyReply; trace: TracedRule[] }> {
  const trace: TracedRule[] = [];
  const secrets = new Secrets();
  secrets.add(deps.vaults);
  for (const [name, value] of request.headers)
    if (/^(?:proxy-)?authorization$/i.test(name)) secrets.add(value.replace(/^\S+ +/, ""));
  try {
    checkRequest(request);
    const shared = { trace, secrets, budget: new Budget() };
    const reply = await new PolicyRun(target, request, deps, shared).answer();
    secrets.mask(trace);
    if (reply) return { reply, trace };
  } catch (error) {
    secrets.mask(trace);
    if (error instanceof NotSimulated) {
      const { method, url } = request;
      throw new RequestNotSimulated(secrets.masked(`${sentence(error)} (${method} ${url})`), trace);
    }
    if (error instanceof ApplicationFailed) throw new ApplicationFailed(secrets.masked(error.message), trace);
    throw error;
  }
  throw new ConnectionClosed("the policy closed the connection", trace);
}

const LONGEST_TEXT = 1_000_000;

/** What the policies that answer one request share. */
interface SharedByRuns {
  trace: TracedRule[];
  secrets: Secrets;
  budget: Budget;
}

/** The run of the policy of one endpoint. */
class PolicyRun {
  private reply: PolicyReply | undefined;
  private current: Phase = "on_tcp_connect";
  /** What runs in the policy, for messages. */
  private place = "";
  private vars: Record<string, unknown> = {};
  /** Whether the expression that is being evaluated has read a secret. */
  private readsSecret = false;
  /** Whether the values of variables may contain secrets. */
  private hasSecretVars = false;
  private readonly results: Record<string, () => unknown> = {};
  private readonly functions: RequestFunctions;

  constructor(
    private readonly target: Target,
    private readonly request: PolicyRequest,
    private readonly deps: RequestDeps,
    private readonly shared: SharedByRuns,
  ) {
    const { secrets } = shared;
    this.functions = {
      ...requestFunctions(
        () => request,
        () => this.reply,
      ),
      "secrets.get": (vault: string, name: string) => {
        const secret = deps.vaults[vault]?.[name];
        if (secret === undefined)
          throw new NotSimulated(`the entry ${name} of the vault ${vault}, which is not given,`);
        this.readsSecret = true;
        return secret;
      },
      "basic_auth.encode": (user: string, password: string) => {
        secrets.add(password);
        this.readsSecret = true;
        return basicAuth(user, password);
      },
    };
  }

  /** @returns The reply; undefined if the connection is closed. */
  async answer(): Promise<PolicyReply | undefined> {
    try {
      return await this.answered();
    } catch (error) {
      // An internal endpoint's error has its own place.
      if (!(error instanceof NotSimulated) || error.cause) throw error;
      const message = `${this.target.url}${this.place}: ${notSimulated(error.message)}`;
      throw new NotSimulated(message, { cause: error });
    }
  }

  private async answered(): Promise<PolicyReply | undefined> {
    const policy = readPolicy(this.target.policy);
    this.shared.secrets.addWritten(policy);
    if (this.deps.forwardedBy && policy.on_tcp_connect.length > 0)
      refuse("on_tcp_connect of an internal endpoint");
    let end = await this.phase("on_tcp_connect", policy.on_tcp_connect, undefined);
    end = await this.phase("on_http_request", policy.on_http_request, end);
    if (!end && !this.target.application)
      refuse("the reply of a cloud endpoint whose policy ends without an answer");
    if (!end) {
      const reply = await this.target.application?.(this.request);
      end = { reply, responseRules: "run" };
    }
    this.reply = end.reply;
    const { on_http_response: rules } = policy;
    const last = await this.phase("on_http_response", rules, end.responseRules === "run" ? undefined : end);
    return last ? last.reply : this.reply;
  }

  /** Runs the rules of a phase. With `end`, an earlier phase has ended the run. */
  private async phase(phase: Phase, rules: readonly Rule[], end: End | undefined): Promise<End | undefined> {
    this.vars = {};
    this.current = phase;
    /** It is open whether the rules run. That does not matter if none of them matches. */
    const isOpen = phase === "on_http_response" && end?.responseRules === "open";
    let last = isOpen ? undefined : end;
    for (const [index, { name, expressions, actions: list }] of rules.entries()) {
      const traced: TracedRule = {
        endpoint: this.target.url,
        phase,
        rule: index,
        ...(name !== undefined && { name }),
        outcome: "not reached",
        expressions: [],
        actions: list.map(({ type }) => ({ type, result: "not reached" })),
      };
      this.shared.trace.push(traced);
      if (last) continue;
      traced.outcome = "undecided";
      // The reply is not known where a file's policy forwards.
      if (phase === "on_http_response" && this.reply?.status === 0) continue;
      const named = name === undefined ? "" : ` of the rule ${JSON.stringify(name)}`;
      const holds = expressions.every((expression, number) => {
        const tried: TracedRule["expressions"][number] = { expression, value: undefined };
        traced.expressions.push(tried);
        this.place = ` ${phase}[${index}].expressions[${number}]${named}`;
        tried.value = this.condition(expression);
        return tried.value;
      });
      if (holds && isOpen) refuse(`${phase}[${index}] after ${end.by}`);
      traced.outcome = holds ? "matched" : "not matched";
      if (!holds) traced.actions = [];
      for (const [number, action] of traced.actions.entries()) {
        this.place = ` ${phase}[${index}].actions[${number}] (${action.type})${named}`;
        last = await this.act(phase, action, list[number]?.config);
        if (last) break;
      }
    }
    this.place = "";
    return last;
  }

  private condition(expression: string): boolean {
    const value = this.evaluate(expression);
    if (typeof value === "boolean") return value;
    throw new NotSimulated(`the expression ${expression}, which gives no truth value,`);
  }

  private evaluate(expression: string): unknown {
    this.readsSecret = false;
    const { functions, current: phase } = this;
    const { secrets, budget } = this.shared;
    const readings = /\breq\.url\b/.test(expression) ? pathsOf(this.request.url) : [undefined];
    const [value, ...others] = readings.map((path) =>
      evaluate(expression, { values: this.values(path), functions, phase, budget }),
    );
    if (others.some((other) => !isDeepStrictEqual(other, value)))
      throw new NotSimulated(`${expression}, which depends on how the service decodes this URL's path,`);
    this.hasSecretVars ||= this.readsSecret;
    const isSecret =
      this.readsSecret ||
      /authorization/i.test(expression) ||
      (this.hasSecretVars && /\b(?:vars|actions)\b/.test(expression));
    // Functions may have changed the secret beyond recognition.
    if (isSecret) secrets.add(value);
    return value;
  }

  /** Runs an action, and writes its result into the trace. */
  private async act(
    phase: Phase,
    traced: TracedRule["actions"][number],
    config: unknown,
  ): Promise<End | undefined> {
    const { type } = traced;
    traced.result = "not simulated";
    const action = Object.hasOwn(actions, type) ? actions[type] : undefined;
    if (!action) return refuse(type);
    const info = catalogue[type as keyof typeof catalogue];
    if (!(info.phases as readonly string[]).includes(phase)) refuse(`${type} in ${phase}`);
    for (const [name, value] of Object.entries(isMapping(config) ? config : {})) {
      const key: KeyInfo | undefined = (info.keys as Readonly<Record<string, KeyInfo>>)[name];
      if (!key?.cel && JSON.stringify(value).includes("${"))
        refuse(`an expression in ${name}, which takes none,`);
    }
    try {
      const { result, end } = await action(config, this.context(phase));
      traced.result = result;
      return end && { ...end, by: type };
    } catch (error) {
      if (error instanceof ApplicationFailed) traced.result = error.message;
      throw error;
    }
  }

  private context(phase: Phase): ActionContext {
    const { request, deps } = this;
    const { secrets, budget } = this.shared;
    return {
      phase,
      request,
      reply: this.reply,
      clientIp: deps.clientIp,
      vars: this.vars,
      set: (name, value) => {
        this.results[`actions.ngrok.${name}`] = () => value;
      },
      interpolate: (value, options) => this.interpolated(value, options ?? {}) as typeof value,
      matches: (text, pattern) => budget.spend(() => matchesOf(text, pattern)),
      addSecrets: (...texts) => secrets.add(texts),
      verify: (verification) => this.verify(verification),
      rateLimited: deps.rateLimited,
      forward: (url) => this.forward(url),
    };
  }

  private verify(verification: Verification): Verdict {
    const { now, vaults } = this.deps;
    const { headers, body } = this.request;
    this.shared.secrets.add(verification.secret);
    let secret: string;
    try {
      secret = secretOf(verification, vaults);
    } catch (error) {
      throw new NotSimulated(`this verification (${error instanceof Error ? error.message : error})`);
    }
    const text: Record<string, string> = {};
    for (const [written, value] of headers) {
      const name = written.toLowerCase();
      const get = () => {
        throw new NotSimulated(`a webhook with several headers ${name}`);
      };
      Object.defineProperty(text, name, Object.hasOwn(text, name) ? { get } : { value, configurable: true });
    }
    return verifyWebhook(verification.provider, { headers: text, body, secret, now: now() });
  }

  private forward(url: string): Promise<PolicyReply> | undefined {
    const target = this.deps.internal(url);
    if (!target) return undefined;
    const { request, deps } = this;
    const forwardedBy = [...(deps.forwardedBy ?? []), this.target.url];
    if (forwardedBy.includes(target.url))
      throw new NotSimulated(`a loop of forward-internal, ${target.url},`);
    const forwarded = { ...deps, forwardedBy, clientIp: undefined, given: {} };
    return new PolicyRun(target, { ...request }, forwarded, this.shared)
      .answer()
      .then((reply) => reply ?? refuse("forwarding to an endpoint that closes the connection"));
  }

  private values(path?: string): Values {
    const { given, now, clientIp } = this.deps;
    const time = now();
    return {
      ...given,
      ...endpointValues(this.target, time),
      ...requestValues(this.request, time, path),
      ...(this.reply && responseValues(this.reply)),
      ...(clientIp !== undefined && { "conn.client_ip": () => clientIp }),
      vars: () => this.vars,
      ...this.results,
    };
  }

  private interpolated(value: unknown, options: InterpolationOptions): unknown {
    if (typeof value === "string") return this.interpolatedText(value, options);
    if (Array.isArray(value)) return value.map((item) => this.interpolated(item, options));
    if (!isMapping(value))
      return typeof value === "number" && options.keepsType ? refuse(`the type of ${value}`) : value;
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [name, this.interpolated(part, options)]),
    );
  }

  private interpolatedText(text: string, { allowed, keepsType }: InterpolationOptions): unknown {
    const value = (expression: string) => this.evaluate(expression);
    const [, whole] = /^\$\{([^{}]*)\}$/.exec(text) ?? [];
    if (whole !== undefined && keepsType) return value(whole);
    if (text.replace(/\$\{[^{}]*\}/g, "").includes("${")) throw new NotSimulated(`the text ${text}`);
    const interpolated = text.replace(/\$\{([^{}]*)\}/g, (_, expression: string) => {
      const part = textOf(value(expression));
      if (allowed && !allowed.pattern.test(part))
        throw new NotSimulated(`the value of ${expression} ${allowed.otherwise}`);
      return part;
    });
    return interpolated.length > LONGEST_TEXT
      ? refuse(`a text of over ${LONGEST_TEXT} characters`)
      : interpolated;
  }
}

const notSimulated = (what: string) => `${what} is not simulated; only the service knows the result`;
/** An error that was thrown before any rule has no place. */
export const sentence = ({ cause, message }: NotSimulated) => (cause ? message : notSimulated(message));

/** As it is written into a text. How the service writes lists, maps, null and numbers with a fraction is open. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "bigint" || typeof value === "boolean") return `${value}`;
  if (value instanceof Date) return dateText(value);
  throw new NotSimulated("a value of this type in a text");
}

/** As the service writes timestamps: `2024-06-24T15:30:00Z`. How many digits it writes of a fraction is open. */
const dateText = (date: Date) =>
  date.getUTCMilliseconds() === 0
    ? date.toISOString().replace(".000Z", "Z")
    : refuse("a time with a fraction of a second as text");
