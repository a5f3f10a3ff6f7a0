import { normalizeUrl, urlProblem } from "../../provider/data/index";
import { endpointsOnUrl } from "../../provider/dataSources/lookup";
import { MASKED } from "../../provider/endpoint/secretSearch";
import { undefinedIfNotFound } from "../../provider/service/apiErrors";
import type { Endpoint } from "../../provider/service/contract";
import { see } from "../../provider/service/headings";
import { ID } from "../../provider/service/replySchemas";
import { urlOf } from "../../provider/service/url";
import { type CliCommand, command, EXIT, type LogLine, messageOf, UsageError } from "./command";
import { accountsOf, factsOf, ScannedAccounts } from "./drift/accounts";
import { endpointFacts, visible } from "./drift/reportView";
import { SecretTexts } from "./drift/secretTexts";
import { type DriftStack, openWithPulumi } from "./drift/stack";
import { backendsOf, type ReadStack, type ReadStates, readStates, withoutStacks } from "./otherStates";
import { projectsOf, projectsOptions } from "./projects";
import { forPulumi, shownName } from "./stackNames";
import { count, shellWord } from "./text";
import { explicitProviders, managedEndpoints, pendingCreates } from "./userProject";

/** `npx pulumi-endpoints who-has`: tells which state has the endpoint on a URL. */
export const whoHasCommand: CliCommand = command({
  name: "who-has",
  about:
    "Tells who has the endpoint on a URL: looks at the accounts of a stack, and then at the states of all stacks of its backend.",
  takes: "URL|ID",
  options: {
    stack: { value: "S", help: "the stack whose accounts to look at (default: the selected one)" },
    cwd: { value: "DIR", help: projectsOptions.cwd.help },
  },
  notes:
    "Exit codes: 0 done, 2 invalid arguments, 1 any other failure, or something could not be read. The command only reads, needs the Pulumi CLI, and never asks a question. See docs/operations.md.",

  async run({ stack, cwd }, { stdout, log }, [wanted = "", ...others]) {
    const id = ID.test(wanted) ? wanted : undefined;
    const url = id === undefined ? normalizeUrl(wanted) : undefined;
    if (others.length > 0) throw new UsageError(`there is an argument too many: ${others[0]}`);
    if (id === undefined && url === undefined) throw new UsageError(`the URL ${urlProblem(wanted)}`);
    const projects = await projectsOf({ stack: stack === undefined ? [] : [stack], cwd });
    const [own] = await openWithPulumi(projects, new AbortController().signal);
    if (!own) throw new UsageError("there is no stack");

    // The states are read after the accounts: an endpoint that a run creates meanwhile is in a state, or its create is.
    const looked = await lookAtAccounts(own, { id, url }, log);
    const states: ReadStates = { stacks: [], unread: [] };
    let foreign: string[] = [];
    let place = "no stack";
    try {
      const backends = await backendsOf(projects.all);
      foreign = (await withoutStacks(backends, [own])).flatMap(({ stacks }) => stacks);
      place = `${count(backends.flatMap(({ stacks }) => stacks).length, "stack")} of ${backends.map((one) => one.url).join(", ")}`;
      Object.assign(states, await readStates(backends));
    } catch (error) {
      states.unread.push({ name: "the list of the backend's stacks", reason: messageOf(error) });
    }
    const { lines, end, isCertain } = answer(own, { id, ...looked }, { ...states, foreign });
    const opened = looked.places.length > 0 && `looked at ${looked.places.join(", ")}, and then at ${place}`;
    const first = `The stack ${own.name}: ${opened || `no account was opened; looked at ${place}`}.`;
    stdout.write(`${[first, ...lines, end].map(visible).join("\n")}\n`);
    return isCertain ? EXIT.done : EXIT.failed;
  },
});

interface Wanted {
  id: string | undefined;
  url: string | undefined;
}

/** An entry that has an endpoint, and its stack, which is another one than that of the accounts if it is foreign. */
type Owner = ReadStack["entries"][number] & { stack: string; isForeign: boolean };

interface Looked {
  /** The normalized URL; undefined if no account shows the id. */
  url: string | undefined;
  live: Endpoint[];
  /** Whether all endpoints on the URL are of the account that the stack's configuration names. */
  isOwn: boolean;
  places: string[];
  /** What could not be read. */
  unread: string[];
  masks: SecretTexts;
}

/** Finds the endpoints on the URL in all accounts of a stack, those of its explicit providers, too. */
async function lookAtAccounts(stack: DriftStack, { id, url }: Wanted, log: LogLine): Promise<Looked> {
  const [state, config] = [await stack.state(), await stack.config()];
  const entries = [...managedEndpoints(state), ...pendingCreates(state).map(({ wanted }) => wanted)];
  const masks = SecretTexts.of(entries);
  const met = new ScannedAccounts((line) => log(masks.without(line)));
  const own = met.open(config, false, undefined);
  const used = accountsOf(entries, explicitProviders(state), config, met);
  const accounts = new Set([...(own ? [own] : []), ...used.keys()]);
  if (accounts.size === 0) throw met.unused;
  const found: Looked = {
    url,
    live: [],
    isOwn: true,
    places: [],
    unread: [],
    masks,
  };
  for (const account of accounts) {
    const { api, unchecked } = account;
    found.unread.push(...unchecked.map(({ what, reason }) => `${what}: ${reason}`));
    if (!api) continue;
    const place = `the account at ${api.http.settings.baseUrl}`;
    found.places.push(place);
    try {
      const byId = id === undefined ? undefined : await api.get(id).catch(undefinedIfNotFound);
      const at = url ?? (byId && urlOf(byId));
      const onUrl = at === undefined ? [] : (await endpointsOnUrl(api, at, "fresh")).found;
      const live = onUrl.some((one) => one.id === id) || !byId ? onUrl : [byId, ...onUrl];
      found.url ??= at;
      found.isOwn &&= live.length === 0 || account === own;
      found.live.push(...live);
      for (const { id = "an endpoint", reason } of api.list.skipped)
        found.unread.push(`${id} of ${place}: the list's item cannot be read: ${reason}`);
    } catch (error) {
      found.unread.push(`${place}: ${messageOf(error)}`);
    }
  }
  return found;
}

/** What was seen, and last the line to run, or the heading of the page that fits. */
function answer(
  stack: DriftStack,
  { id, url, live, isOwn, places, unread, masks }: Looked & Wanted,
  states: ReadStates & { foreign: readonly string[] },
): { lines: string[]; end: string; isCertain: boolean } {
  const owners = (wanted: string) =>
    states.stacks.flatMap(({ name, entries }) =>
      entries
        .filter((entry) => entry.id === wanted)
        .map((entry) => ({ ...entry, stack: name, isForeign: states.foreign.includes(name) })),
    );
  const ofLive = live.map((one) => ({ one, has: owners(one.id) }));
  const lines = ofLive.flatMap(({ one, has }) => [
    liveText(one, has, masks),
    ...(has.length > 0 ? has.map(entryText) : ["  no state that was read has it"]),
  ]);
  const isMissing = id !== undefined && !live.some((one) => one.id === id);
  if (places.length > 0 && isMissing) lines.push(`no account of the stack shows ${id}`);
  else if (places.length > 0 && live.length === 0)
    lines.push("no account of the stack has an endpoint on the URL");
  if (isMissing) lines.push(...owners(id).map(entryText));

  const creates = states.stacks.flatMap(({ name, creates }) =>
    creates
      .filter((create) => create.url === undefined || create.url === url)
      .map((create) => createText(create, name)),
  );
  const missing = [...unread, ...states.unread.map(({ name, reason }) => `${shownName(name)}: ${reason}`)];
  lines.push(...creates, ...missing.map((what) => `unread ${masks.without(what.replaceAll("\n", "; "))}`));

  const isCertain = missing.length === 0;
  const [free, ...more] = ofLive.filter(({ one, has }) => one.type === "cloud" && has.length === 0);
  const end = () => {
    if (creates.length > 0) return see("A run was killed");
    if (ofLive.some(({ has }) => has.length > 1)) return see("Two resources share an endpoint");
    if (!free || !isCertain) return see("A URL that is taken");
    if ([free, ...more].some(({ one }) => one.poolingEnabled === true)) return see("Adopt members of a pool");
    if (live.length > 1 || !isOwn) return see("A URL that is taken");
    const target = shellWord(forPulumi(stack.name, stack.project));
    return `Nothing in this backend has it. If nothing elsewhere does (another backend, Terraform): pulumi up --config endpoints:adopt=${shellWord(free.one.id)} --stack ${target}`;
  };
  return { lines, end: end(), isCertain };
}

/** An endpoint on the URL. Of another stack's, no text is shown that the stack may keep secret. */
function liveText(live: Endpoint, has: readonly Owner[], masks: SecretTexts): string {
  const others = has.filter(({ isForeign }) => isForeign);
  const { description, ...facts } = factsOf(live, masks);
  const isShown = others.every(({ url }) => url !== undefined);
  const shown = { id: live.id, ...facts, ...(description && others.length === 0 && { description }) };
  const all = [live.type ?? "unknown type", live.poolingEnabled && "in a pool", ...endpointFacts(shown)];
  return `live ${isShown ? masks.shown(urlOf(live) ?? "without a URL") : MASKED} (${all.filter(Boolean).join(", ")})`;
}

function entryText({ name, urn, isOld, isPendingReplacement, stack }: Owner): string {
  const pending = isPendingReplacement
    ? ", and its replacement is pending"
    : isOld
      ? ", and its deletion is pending"
      : "";
  return `  '${name}' of the stack ${shownName(stack)} has it${pending} (${urn})`;
}

function createText({ name, urn, url }: ReadStack["creates"][number], stack: string): string {
  const where = url === undefined ? "with an encrypted URL, which may be this one" : "on this URL";
  return `creating: '${name}' of the stack ${shownName(stack)}, ${where} (${urn})`;
}
