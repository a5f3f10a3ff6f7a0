import { writeFileSync } from "node:fs";
import { UserError } from "../../provider/api/apiErrors";
import type { LiveEndpoint } from "../../provider/api/contract";
import type { EndpointsApi } from "../../provider/api/endpoints";
import { canonicalJson } from "../../provider/api/json";
import { EVERYTHING } from "../../provider/api/list";
import { PIPELINE_COMMAND } from "../../provider/api/text";
import { urlOf } from "../../provider/api/url";
import {
  assertFile,
  type CliCommand,
  command,
  grouped,
  isAuthenticationError,
  type LogLine,
  messageOf,
  UsageError,
} from "./command";
import { ignoredIn, isIgnored, type Projects, projectsOf, projectsOptions } from "./projects";
import {
  type Asked,
  type Failure,
  type Found,
  type Leftover,
  planOf,
  stackOfMark,
  UNITS,
} from "./sweep/leftovers";
import { endpointText, planText, reportOf, resultText } from "./sweep/sweepReport";
import {
  type OpenSweepStacks,
  openSweepStacks,
  type SweepStack,
  type SweepStacks,
} from "./sweep/sweepStacks";
import { isCloudEndpointType, openAccount, resourcesOf, type State } from "./userProject";

const HELP = `Deletes endpoints with a mark (endpoints:mark) that no stack has, as killed runs leave them behind.

Usage: npx pulumi-endpoints sweep --mark NAMESPACE [options]

  --mark NAMESPACE    the value of endpoints:mark; only endpoints with this mark are deleted
  --yes               delete them; without it, the command only shows what it would delete
  --stack S           a stack; may be repeated (default: the selected one). Every stack that a mark names is required
  --cwd DIR           the folder of a Pulumi project; may be repeated (default: this one)
  --projects F        a file that lists projects and stacks, instead of --cwd
  --known S           another stack whose endpoints stay; may be repeated
  --ignore F          a file that lists endpoints which are meant to be there
  --gone P/S          a project and stack that marks name and that no longer exists; may be repeated
  --older-than AGE    only endpoints that are older: 0s, 90m, 24h, 2d (default: 1h)
  --json F            write the plan and its results as JSON; - for the standard output, instead of the text
  --help              this text

Exit codes: 0 nothing to sweep, or all swept; 7 something to sweep, without --yes; 3 a key was refused; 2 invalid
arguments; 1 any other failure or refusal. The command needs the Pulumi CLI, and never asks a question. See docs/sweep.md.`;

/** Tests replace the stacks, so that they need no Pulumi CLI. */
export const sweepWith = (open: OpenSweepStacks): CliCommand =>
  command({
    name: "sweep",
    help: HELP,
    options: {
      ...projectsOptions,
      mark: { type: "string" },
      yes: { type: "boolean", default: false },
      gone: { type: "string", multiple: true, default: [] },
      "older-than": { type: "string", default: "1h" },
      ignore: { type: "string" },
      json: { type: "string" },
    },

    async run({ mark, yes, gone, "older-than": age, ignore, json, ...given }, { stdout, log }) {
      if (!mark) throw new UsageError("--mark must give the value of endpoints:mark");
      const asked = { mark, yes, olderThan: secondsOf(age), gone: [...new Set(gone.map(goneStack))] };
      if (json !== undefined && json !== "-") assertFile("--json", json);
      const projects = await projectsOf(given);
      if (ignore !== undefined) projects.ignored.push(...ignoredIn(ignore));

      const startedAt = new Date().toISOString();
      const print: LogLine = json === "-" ? log : (line) => stdout.write(`${line}\n`);
      const stacks = await open(projects);
      const found = await sweep(stacks, projects, asked, { print, log });
      const report = reportOf(found, { ...asked, startedAt, stacks: stacks.stacks.map(({ key }) => key) });
      print(resultText(report));
      // In JSON the escape is the same text.
      const text = `${JSON.stringify(report, undefined, 2).replace(PIPELINE_COMMAND, "\\u0023")}\n`;
      if (json === "-") stdout.write(text);
      else if (json !== undefined) writeFileSync(json, text);
      return report.exitCode;
    },
  });

/** `npx pulumi-endpoints sweep`: deletes what killed runs have left behind. */
export const sweepCommand = sweepWith(openSweepStacks);

function secondsOf(age: string): number {
  const [, number, unit] = /^(\d{1,9})([smhd])$/.exec(age) ?? [];
  const size = UNITS.find(([, name]) => name === unit)?.[0];
  if (size === undefined) throw new UsageError(`--older-than takes 0s, 90m, 24h or 2d, not ${age}`);
  return Number(number) * size;
}

function goneStack(name: string): string {
  const [stack, project] = name.split("/").reverse();
  if (!stack || !project || name.split("/").length > 3)
    throw new UsageError(
      `--gone takes a project and a stack, such as shop/old, not ${name || "an empty name"}`,
    );
  return `${project}/${stack}`;
}

const failureOf = (error: unknown): Failure => ({
  reason: messageOf(error),
  authentication: isAuthenticationError(error),
});

/** Deletes nothing if there is a refusal. All refusals that can be seen at once are reported. */
async function sweep(
  pulumi: SweepStacks,
  { ignored }: Projects,
  asked: Asked,
  { print, log }: { print: LogLine; log: LogLine },
): Promise<Found> {
  const found: Found = { refusals: [], planned: [], left: [], results: new Map() };
  const refuse: Refuse = (what, error) => void found.refusals.push({ what, ...failureOf(error) });
  for (const url of new Set(pulumi.hidden))
    log(`Locks in ${url} cannot be seen: make sure that no run of these stacks is in progress`);
  log("reading the states");
  const before = await readStacks(pulumi, refuse);
  const account = await openOne(pulumi.stacks, log).catch((error) => refuse("the account", error));
  if (!account) return found;
  found.service = account.api.http.settings.baseUrl;
  const named = grouped(account.endpoints, (live) => stackOfMark(live, asked.mark));
  named.delete(undefined);
  await refuseUnknown(pulumi.stacks, before, account.endpoints, { named, gone: asked.gone }, refuse);
  // A state that could not be read may have any endpoint, so a plan without it would mislead.
  if (found.refusals.length > 0) return found;

  const { api } = account;
  const held = idsIn(before.states.values());
  const plan = planOf(account.endpoints, {
    namespace: asked.mark,
    olderThan: asked.olderThan,
    now: api.http.serviceClock.at(api.http.clock.now()),
    isInUse: (live) => held.has(live.id) || ignored.some((one) => isIgnored(live, one)),
  });
  Object.assign(found, plan);
  print(planText(found, asked));
  if (!asked.yes || found.planned.length === 0) return found;

  log("reading the states again");
  const again = await readStacks(pulumi, refuse);
  for (const [stack, state] of before.states) {
    const now = again.states.get(stack);
    if (now && canonicalJson(now) !== canonicalJson(state))
      refuse(stack.key, "its state has changed since the plan, so a run is or was in progress");
  }
  if (found.refusals.length > 0) return found;
  for (const leftover of found.planned) {
    const text = endpointText(leftover);
    try {
      const reason = await deleteLeftover(api, leftover);
      log(`${reason ? "gone already:" : "deleted"} ${text}`);
      found.results.set(leftover.live.id, { deleted: true, ...(reason && { reason }) });
    } catch (error) {
      const failure = failureOf(error);
      log(`not deleted: ${text}: ${failure.reason}`);
      found.results.set(leftover.live.id, { deleted: false, ...failure });
    }
  }
  return found;
}

type Refuse = (what: string, error: unknown) => undefined;

interface Read {
  states: Map<SweepStack, State>;
  /** The stacks that the backends list. */
  listed: string[];
}

/** Reads every state, and then looks for runs in progress: a run that began after its state was read is seen. */
async function readStacks({ stacks, look }: SweepStacks, refuse: Refuse): Promise<Read> {
  const states = new Map<SweepStack, State>();
  for (const stack of stacks) {
    const state = await stack.state().catch((error: unknown) => refuse(stack.key, error));
    if (!state) continue;
    states.set(stack, state);
    if (state.deployment.pending_operations?.length)
      refuse(
        stack.key,
        "operations are pending, because a run is in progress or was killed (then run `pulumi refresh --clear-pending-creates` first)",
      );
  }
  const seen = await look().catch((error: unknown) => refuse("the list of stacks", error));
  for (const { key } of stacks) {
    const reason = seen?.running.get(key);
    if (reason !== undefined) refuse(key, reason);
  }
  return { states, listed: seen?.listed ?? [] };
}

/** The ids of all resources: of any type, only read, or to be deleted. */
const idsIn = (states: Iterable<State>): Set<string | undefined> =>
  new Set([...states].flatMap((state) => resourcesOf(state).map(({ id }) => id)));

/**
 * The one account of the stacks' configuration. Keys of different people or stacks are of the same account if their lists have
 * an endpoint in common.
 */
async function openOne(stacks: SweepStack[], log: LogLine) {
  const accounts = new Map<string, { of: string; api: EndpointsApi; endpoints: LiveEndpoint[] }>();
  for (const stack of stacks.filter(({ isKnown }) => !isKnown)) {
    const api = openAccount(await stack.config(), log);
    const { baseUrl, apiKey } = api.http.settings;
    const key = JSON.stringify([baseUrl, apiKey]);
    if (accounts.has(key)) continue;
    log(`listing the account at ${baseUrl}`);
    // A filtered list may lack endpoints, and so the stacks that their marks name.
    const endpoints = await api.list.select(EVERYTHING, { fresh: true });
    accounts.set(key, { of: stack.key, api, endpoints });
  }
  const [first, ...others] = accounts.values();
  const ids = new Set(first?.endpoints.map(({ id }) => id));
  const other = others.find(({ endpoints }) => !endpoints.some(({ id }) => ids.has(id)));
  if (other && (ids.size > 0 || other.endpoints.length > 0))
    throw new UserError(
      `${first?.of} and ${other.of} use different accounts: sweep each account with the stacks that use it`,
    );
  return first;
}

/** Refuses unless every stack is known that could have one of the marked endpoints in its state. */
async function refuseUnknown(
  stacks: readonly SweepStack[],
  { states, listed }: Read,
  endpoints: readonly LiveEndpoint[],
  { named, gone }: { named: ReadonlyMap<string | undefined, LiveEndpoint[]>; gone: readonly string[] },
  refuse: Refuse,
): Promise<void> {
  const isGiven = (wanted: string) => stacks.some(({ key, isKnown }) => key === wanted && !isKnown);
  const isRead = (wanted: string) => stacks.some(({ key }) => key === wanted);
  for (const [stack = "", marked] of named)
    if (!isGiven(stack) && !gone.includes(stack))
      refuse(
        stack,
        `the mark of ${marked[0]?.id} names this stack, and its state was not read: give it with --stack and --cwd or --projects, or with --gone if it no longer exists`,
      );
  for (const stack of gone) {
    if (isRead(stack) || listed.includes(stack)) refuse(`--gone ${stack}`, "this stack exists");
    // After a rename of the stack or its project, the old marks name a stack that is gone, but another one has the endpoints.
    for (const other of new Set(listed))
      if (other !== stack && !isRead(other))
        refuse(other, `it may be ${stack} under a new name: give it with --stack or --known`);
  }
  const ids = new Set(endpoints.map(({ id }) => id));
  for (const [stack, state] of states) {
    if (stack.isKnown) continue;
    const own = resourcesOf(state).filter(
      ({ type, external, delete: old }) => isCloudEndpointType(type) && !external && !old,
    );
    if (own.length > 0 && !own.some(({ id = "" }) => ids.has(id)))
      refuse(stack.key, "the account has none of its endpoints: check the key, or run `pulumi refresh`");
    // A wrong backend may have an empty stack of the same name.
    const isEmpty = resourcesOf(state).length === 0 && named.has(stack.key);
    if (isEmpty && !(await stack.hasRun().catch((error: unknown) => refuse(stack.key, error) ?? true)))
      refuse(stack.key, "it never ran, but marks name it: check the backend, or run `pulumi refresh`");
  }
}

const identityOf = (live: LiveEndpoint): string =>
  canonicalJson([live.type, live.createdFor, urlOf(live), live.createdAt]);

/** A deletion is sent only so soon after the endpoint was read, in milliseconds. Otherwise the endpoint is read again. */
const SOON = 5_000;
const MOST_TRIES = 3;

/**
 * @returns What was found instead of the endpoint; undefined if it was deleted.
 * @throws UserError if it is no longer what was planned.
 */
async function deleteLeftover(api: EndpointsApi, { live }: Leftover): Promise<string | undefined> {
  let failure: unknown;
  for (let tries = 0; ; tries++) {
    const now = await api.find(live.id);
    // A deletion whose answer was lost is known by its effect.
    if (!now) return failure === undefined ? "it was already deleted" : undefined;
    if (identityOf(now) !== identityOf(live))
      throw new UserError("its mark, URL, type or creation time has changed since the plan");
    if (tries === MOST_TRIES || isAuthenticationError(failure)) throw failure;
    try {
      return void (await api.delete(live.id, { within: SOON }));
    } catch (error) {
      failure = error;
    }
  }
}
