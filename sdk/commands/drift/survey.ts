import type { LiveEndpoint } from "../../../provider/api/items";
import type { ConfigReader } from "../../../provider/config";
import type { ExportedState } from "../../testing/types";
import { count } from "../command";
import { type Account, type AccountSource, listAccounts } from "./accounts";
import { driftOf } from "./compare";
import { explicitProviders, type Held, heldEndpoints, usesOwnAccount } from "./held";
import { type Around, interrupted } from "./interruption";
import type { DriftedEndpoint, SharedEndpoint, StackReport, Unseen } from "./report";
import { type DriftStack, errorsOf, type Ran } from "./stack";
import { unseen } from "./unseen";

/** A stack as it was found: what it holds, and what a look at the service has shown. */
export interface Surveyed {
  stack: DriftStack;
  report: StackReport;
  /** All that it manages; undefined where its state could not be read. */
  held: readonly Held[] | undefined;
  /** Where the settings of its accounts are. */
  sources: AccountSource[];
  /** The URNs of those that could be compared. */
  seen: ReadonlySet<string>;
}

export interface Survey {
  stacks: Surveyed[];
  accounts: Account[];
}

interface Looked {
  stack: DriftStack;
  held: Held[] | undefined;
  ran: Ran | undefined;
  sources: AccountSource[];
  problems: Unseen[];
}

/** What a look has to know of one before it. */
export interface Earlier {
  /** What endpoints are meant to be, by URN, whatever their states hold by now. */
  meant: ReadonlyMap<string, Held>;
  /** The accounts of stacks that are not looked at again. */
  sources: AccountSource[];
}

const FIRST: Earlier = { meant: new Map(), sources: [] };

/**
 * Compares every stack with the service, one after the other, and lists the accounts that they use. Once it is stopped
 * nothing more begins, and the rest is told as unseen.
 */
export async function survey(stacks: DriftStack[], around: Around, earlier = FIRST): Promise<Survey> {
  const looked: Looked[] = [];
  for (const stack of stacks) looked.push(await look(stack, around));
  const sources = [...looked.flatMap(({ sources }) => sources), ...earlier.sources];
  const accounts = await listAccounts(sources, around);
  const live = new Map(accounts.flatMap(({ cloud }) => cloud).map((endpoint) => [endpoint.id, endpoint]));
  return { stacks: looked.map((each) => compared(each, live, earlier.meant)), accounts };
}

/** The endpoints that several states hold, or one state twice. Destroying one of the resources would delete the other's. */
export function sharedEndpoints(stacks: readonly Surveyed[]): SharedEndpoint[] {
  const byId = new Map<string, SharedEndpoint["resources"]>();
  for (const { stack, held = [] } of stacks) {
    for (const { id, name, isOld } of held) {
      if (!isOld) byId.set(id, [...(byId.get(id) ?? []), { stack: stack.name, name }]);
    }
  }
  return [...byId]
    .filter(([, resources]) => resources.length > 1)
    .map(([id, resources]) => ({ id, resources }));
}

async function look(stack: DriftStack, { tell, stopped }: Around): Promise<Looked> {
  const problems: Unseen[] = [];
  const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      if (stopped.aborted) throw interrupted();
      return await work();
    } catch (error) {
      problems.push(unseen(what, error));
      return undefined;
    }
  };
  tell(`${stack.name}: reading the state`);
  const state = await attempt("the stack's state", () => stack.state());
  const held = state && heldEndpoints(state);
  if (!state || !held) return { stack, held, ran: undefined, sources: [], problems };

  const total = held.length;
  if (total > 0) tell(`${stack.name}: comparing ${count(total, "cloud endpoint")} with the service`);
  const progress = (done: number) => tell(`${stack.name}: compared ${Math.min(done, total)} of ${total}`);
  const ran = total === 0 ? undefined : await attempt("the stack's endpoints", () => stack.look(progress));
  const config = await attempt("the stack's configuration", () => stack.config());
  return { stack, held, ran, sources: config ? sourcesOf(stack.name, state, config) : [], problems };
}

/** The accounts of a stack: that of its configuration, and those of the explicit providers in its state. */
function sourcesOf(stack: string, state: ExportedState, config: ConfigReader): AccountSource[] {
  const explicit = explicitProviders(state).map((given): ConfigReader => {
    return (key) => {
      const value = given[key.replace(/^endpoints:/, "")];
      return value === undefined || value === null ? config(key) : String(value);
    };
  });
  const isUsed = heldEndpoints(state).length > 0;
  return [...(usesOwnAccount(state) ? [config] : []), ...explicit].map((each) => ({
    stack,
    config: each,
    isUsed,
  }));
}

/** Every endpoint that is held has been seen, or is told as one that has not. */
function compared(
  looked: Looked,
  live: ReadonlyMap<string, LiveEndpoint>,
  meant: ReadonlyMap<string, Held>,
): Surveyed {
  const { stack, held, ran, sources, problems } = looked;
  const drifted: DriftedEndpoint[] = [];
  const blind: Unseen[] = [];
  const seen = new Set<string>();
  for (const each of ran ? (held ?? []) : []) {
    if (each.isOld) continue;
    const step = ran?.steps.find(({ urn, id }) => urn === each.urn && (id === undefined || id === each.id));
    const drift = step && driftOf(each, step, live.get(each.id), meant.get(each.urn));
    if (drift) drifted.push(drift);
    if (step) seen.add(each.urn);
    else if (ran)
      blind.push(unseen(`${each.name} (${each.id})`, errorsOf(ran, each.urn) ?? "Pulumi did not read it"));
  }
  // What went wrong may not have been about one of our own.
  if (ran && !ran.ok && blind.length === 0)
    blind.push(unseen("the whole stack", errorsOf(ran) ?? "the refresh failed"));
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  return {
    stack,
    seen,
    held,
    sources,
    report: {
      name: stack.name,
      endpoints: held?.filter(({ isOld }) => !isOld).length ?? 0,
      compared: seen.size,
      drifted: drifted.sort(byName),
      unseen: [...problems, ...blind],
    },
  };
}
