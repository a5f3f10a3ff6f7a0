import { type ActionInfo, actions } from "../policy/catalogue";
import { isSimulated, type PhaseEnd, simulate } from "./actions";
import type { PolicyReply, PolicyRequest } from "./messages";
import { type Rule, readPolicy } from "./policy";
import { checkRequest } from "./request";
import { type Phase, PolicyRun, type RequestDeps, type Target } from "./run";
import { SecretMask } from "./secrets";
import {
  ApplicationFailed,
  ConnectionClosed,
  notSimulated,
  RequestFailed,
  RequestNotSimulated,
  type TracedRule,
} from "./trace";

/*
 * Answers requests by traffic policies on this machine: runs phases, rules, expressions and actions in the documented order. Where
 * the documentation does not say what happens, the run ends with an error, so that no test passes by a guess.
 */

/** Runs the policy of an endpoint for a request. @throws RequestFailed if there is no reply. */
export async function answerRequest(
  target: Target,
  request: PolicyRequest,
  deps: RequestDeps,
): Promise<{ reply: PolicyReply; trace: TracedRule[] }> {
  const trace: TracedRule[] = [];
  const secrets = new SecretMask();
  secrets.add(deps.vaults);
  for (const [name, value] of request.headers)
    if (/^(?:proxy-)?authorization$/i.test(name)) secrets.add(value.replace(/^\S+ +/, ""));
  try {
    checkRequest(request);
    const reply = await runPolicy(new PolicyRun(target, request, deps, { trace, secrets }));
    if (!reply) throw new ConnectionClosed("the policy closed the connection");
    return { reply, trace };
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
    const isRefused = error instanceof RequestNotSimulated;
    const place = isRefused && error.place !== undefined ? `${error.place}: ` : "";
    const sent = isRefused ? ` (${request.method} ${request.url})` : "";
    error.message = secrets.masked(`${place}${error.message}${sent}`);
    error.trace = trace;
    throw error;
  } finally {
    secrets.mask(trace);
  }
}

/** Runs all phases of a policy. @returns The reply; undefined if the connection is closed. */
async function runPolicy(run: PolicyRun): Promise<PolicyReply | undefined> {
  const { target, deps, shared } = run;
  try {
    const policy = readPolicy(target.policy);
    shared.secrets.addWritten(policy);
    if (deps.forwardedBy && policy.on_tcp_connect.length > 0)
      notSimulated("on_tcp_connect of an internal endpoint");
    let end = await runPhase(run, "on_tcp_connect", policy.on_tcp_connect, undefined);
    end = await runPhase(run, "on_http_request", policy.on_http_request, end);
    if (!end && !target.application)
      notSimulated("the reply of a cloud endpoint whose policy ends without an answer");
    end ??= { reply: await target.application?.(run.request), responseRules: "run" };
    run.reply = end.reply;
    const before = end.responseRules === "run" ? undefined : end;
    const last = await runPhase(run, "on_http_response", policy.on_http_response, before);
    return last ? last.reply : run.reply;
  } catch (error) {
    // The policy of an internal endpoint has named its own place.
    if (error instanceof RequestNotSimulated) error.place ??= target.url + run.place;
    throw error;
  }
}

/** Runs the rules of a phase. If an earlier phase ended the run (`end`), the rules are only traced. */
async function runPhase(
  run: PolicyRun,
  name: Phase,
  rules: readonly Rule[],
  end: PhaseEnd | undefined,
): Promise<PhaseEnd | undefined> {
  run.phase = name;
  run.vars = {};
  /** The documentation does not say whether these rules run, so the request fails only if a rule matches. */
  const mayNotRun = name === "on_http_response" && end?.responseRules === "undocumented";
  let last = mayNotRun ? undefined : end;
  for (const [index, rule] of rules.entries()) {
    const traced: TracedRule = {
      endpoint: run.target.url,
      phase: name,
      rule: index,
      ...(rule.name !== undefined && { name: rule.name }),
      outcome: "not reached",
      expressions: [],
      actions: rule.actions.map(({ type }) => ({ type, result: "not reached" })),
    };
    run.shared.trace.push(traced);
    if (last) continue;
    traced.outcome = "undecided";
    // If the policy of a file forwards, the reply is not known.
    if (name === "on_http_response" && run.reply?.status === 0) continue;
    const named = rule.name === undefined ? "" : ` of the rule ${JSON.stringify(rule.name)}`;
    const holds = rule.expressions.every((expression, number) => {
      const tried: TracedRule["expressions"][number] = { expression, value: undefined };
      traced.expressions.push(tried);
      run.place = ` ${name}[${index}].expressions[${number}]${named}`;
      tried.value = run.condition(expression);
      return tried.value;
    });
    if (holds && mayNotRun) notSimulated(`${name}[${index}] after ${end?.by}`);
    traced.outcome = holds ? "matched" : "not matched";
    if (!holds) traced.actions = [];
    for (const [number, action] of traced.actions.entries()) {
      run.place = ` ${name}[${index}].actions[${number}] (${action.type})${named}`;
      last = await runAction(run, action, rule.actions[number]?.config);
      if (last) break;
    }
  }
  run.place = "";
  return last;
}

/** Runs an action, and writes its result into the trace. */
async function runAction(
  run: PolicyRun,
  traced: TracedRule["actions"][number],
  config: unknown,
): Promise<PhaseEnd | undefined> {
  const { type } = traced;
  traced.result = "not simulated";
  if (!isSimulated(type)) return notSimulated(type);
  const { phases }: ActionInfo = actions[type];
  if (!phases.includes(run.phase)) notSimulated(`${type} in ${run.phase}`);
  try {
    const { result, end } = await simulate(type, config, run, (url) => forward(run, url));
    traced.result = result;
    return end && { ...end, by: type };
  } catch (error) {
    if (error instanceof ApplicationFailed) traced.result = error.message;
    throw error;
  }
}

/** Runs the policy of an internal endpoint. Undefined if the account has no endpoint with this URL. */
async function forward(run: PolicyRun, url: string): Promise<PolicyReply | undefined> {
  const { request, deps, shared } = run;
  const target = deps.findInternal(url);
  if (!target) return undefined;
  const forwardedBy = [...(deps.forwardedBy ?? []), run.target.url];
  if (forwardedBy.includes(target.url)) notSimulated(`a loop of forward-internal, ${target.url},`);
  const forwarded = { ...deps, forwardedBy, clientIp: undefined, conn: {} };
  const reply = await runPolicy(new PolicyRun(target, { ...request }, forwarded, shared));
  return reply ?? notSimulated("forwarding to an endpoint that closes the connection");
}
