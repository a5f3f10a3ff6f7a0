import { oneLine, UserError } from "../../../provider/data/index";
import { cloudEndpoints, openAccount } from "../../../provider/dataSources/account";
import { matcher } from "../../../provider/dataSources/lookup";
import { textPattern } from "../../../provider/dataSources/textPatterns";
import type { Endpoint } from "../../../provider/service/contract";
import type { EndpointsApi } from "../../../provider/service/endpoints";
import { ConfigError, type ConfigReader } from "../../../provider/service/settings";
import { urlOf } from "../../../provider/service/url";
import { type LogLine, type Options, UsageError, type Values } from "../command";
import { backendsOf, ENCRYPTED_CREATE, type ReadStack, readStates } from "../otherStates";
import { isIgnored, projectsOf, projectsOptions } from "../projects";
import { shownName } from "../stackNames";
import { count } from "../text";
import { managedEndpoints, stackConfig, stackState, type UserProject } from "../userProject";
import { Terraform } from "./terraform";

/* The endpoints of an account that `adopt` brings into a program. */

const SELECTS = "a URL in which * matches any text and \\* a star, or an id";

export const selectionOptions = {
  select: {
    value: "WHAT",
    help: `only these endpoints: ${SELECTS}`,
    isRepeatable: true,
  },
  except: { value: "WHAT", help: "not these endpoints, with the same values", isRepeatable: true },
  stack: {
    value: "S",
    help: "the stack that will manage the endpoints. Its configuration, in the project's folder, names the account. What a stack of its backend has is left out. Needs the Pulumi CLI",
  },
  projects: {
    ...projectsOptions.projects,
    needs: ["stack"],
    help: "also leave out what the stacks of its projects' backends have, and what the file ignores",
  },
  ignore: projectsOptions.ignore,
  terraform: {
    value: "F",
    help: "only the endpoints in this output of terraform show -json, named by their addresses; - reads stdin. --select and --except then take addresses, too",
  },
  cwd: { value: "DIR", help: "the project's folder (default: this one)", needs: ["stack"] },
} as const satisfies Options;

interface Selected {
  account: EndpointsApi;
  /** Sorted by URL and id, so that the result does not depend on the order of the list. */
  endpoints: Endpoint[];
  target: TargetStack | undefined;
  terraform: Terraform | undefined;
  /** What the target stack manages already. */
  managed: readonly { id: string; name: string }[];
}

/** The stack that will manage the endpoints. */
export interface TargetStack {
  project: UserProject;
  stack: string;
  config: ConfigReader;
}

/** Reads the account, and logs the number of endpoints that it leaves out, with the reason. */
export async function selectEndpoints(
  wanted: Values<typeof selectionOptions>,
  log: LogLine,
): Promise<Selected> {
  const { select, except, stack, projects: file, ignore = [], cwd = "." } = wanted;
  const terraform = wanted.terraform === undefined ? undefined : await Terraform.read(wanted.terraform);
  const listed = file === undefined ? undefined : await projectsOf({ projects: file });
  const target = stack === undefined ? undefined : await targetOf(stack, cwd);
  const account = target ? openAccount(target.config, { info: log, warn: log }) : accountOfEnvironment(log);
  const cloud = await cloudEndpoints(account);
  // States are read after the list, so an endpoint that an update creates meanwhile is not listed, or is in a state, too.
  const managed = target ? managedEndpoints(await stackState(target.project, target.stack)) : [];
  const owned = target ? await readOwned([target.project, ...(listed?.all ?? [])]) : [];
  log(`The account has ${count(cloud.length, "cloud endpoint")}.`);
  terraform?.logMissing(cloud, log);
  const sortKey = (live: Endpoint) => `${urlOf(live)} ${live.id}`;
  let endpoints = [...cloud].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  /** Keeps some of the endpoints, and logs how many it leaves out. */
  const keep = (isKept: (live: Endpoint) => boolean, why: string) => {
    const left = endpoints.length;
    endpoints = endpoints.filter(isKept);
    if (endpoints.length < left) log(`Left out: ${left - endpoints.length} ${why}`);
  };
  if (terraform)
    keep(({ id }) => terraform.addressOf(id) !== undefined, "that the Terraform state does not have");
  const isSelected = selectorOf("--select", select, cloud, terraform);
  if (select.length > 0) keep(isSelected, "not matched by --select");
  const isExcepted = selectorOf("--except", except, cloud, terraform);
  keep((live) => !isExcepted(live), "matched by --except");
  endpoints = endpoints.filter((live) => {
    const refusal = terraform?.refusal(live.id);
    if (refusal !== undefined) logLeftOut(log, live, refusal);
    return refusal === undefined;
  });
  for (const { name, entries, creates } of owned) {
    const ids = new Set(entries.map(({ id }) => id));
    const urls = new Set(creates.map(({ url }) => url));
    keep((live) => !ids.has(live.id), `that the stack ${shownName(name)} has`);
    keep((live) => !urls.has(urlOf(live)), `that the stack ${shownName(name)} is creating`);
  }
  const ignored = [...(listed?.ignored ?? []), ...ignore];
  keep((live) => !ignored.some((one) => isIgnored(live, one)), "that are meant to be there");
  if (!target && endpoints.length > 0) log(UNREAD);
  return { account, endpoints, target, terraform, managed };
}

const UNREAD =
  "No state was read, so a stack may have any of these endpoints: `npx pulumi-endpoints who-has ID` tells. With --stack, endpoints that a stack of its backend has are left out";

/**
 * What all stacks of these projects' backends have.
 *
 * @throws UserError if a state cannot be read: the program could adopt what that stack has.
 */
async function readOwned(projects: readonly UserProject[]): Promise<ReadStack[]> {
  const { stacks, unread } = await readStates(await backendsOf(projects));
  const creating = stacks.filter(({ creates }) => creates.some(({ url }) => url === undefined));
  const all = [...unread, ...creating.map(({ name }) => ({ name, reason: ENCRYPTED_CREATE }))];
  if (all.length === 0) return stacks;
  const reasons = all.map(({ name, reason }) => `${shownName(name)}: ${reason}`);
  throw new UserError(
    oneLine(
      `The program could adopt what another stack has, because a state cannot be read: ${reasons.join("; ")}`,
    ),
  );
}

/** Reports an endpoint that no program gets. */
export const logLeftOut = (log: LogLine, { id, url }: Endpoint, reason: string): void =>
  log(`Left out: ${oneLine(`${id} (${url ?? "no URL"}): ${reason}`)}`);

/**
 * Whether one of an option's values matches an endpoint.
 *
 * @throws UsageError if a value matches no endpoint, because it is probably misspelt.
 */
function selectorOf(
  option: string,
  values: readonly string[],
  all: readonly Endpoint[],
  terraform: Terraform | undefined,
): (live: Endpoint) => boolean {
  const selectors = values.map((text) => {
    const hasAddress = ({ id }: Endpoint) => terraform?.addressOf(id) === text;
    // A key of Terraform may contain *.
    const selects = all.some(hasAddress) ? hasAddress : valueSelector(text, terraform);
    if (all.some(selects)) return selects;
    throw new UsageError(
      `no cloud endpoint of the account matches ${option} ${text}: it takes ${SELECTS}, or with --terraform an address`,
    );
  });
  return (live) => selectors.some((selects) => selects(live));
}

function valueSelector(text: string, terraform: Terraform | undefined): (live: Endpoint) => boolean {
  const [hasId, hasUrl, hasAddress] = [
    matcher({ id: text }),
    matcher({ urlPattern: text }),
    textPattern(text),
  ];
  return (live) => hasId(live) || hasUrl(live) || hasAddress(terraform?.addressOf(live.id) ?? "");
}

/** @throws UsageError for a stack of another project, in whose folder neither Pulumi nor the written program belongs. */
async function targetOf(wanted: string, folder: string): Promise<TargetStack> {
  const [project] = (await projectsOf({ stack: [wanted], cwd: folder })).projects;
  const [stack] = project?.stacks ?? [];
  if (!project || stack === undefined) throw new UsageError(`there is no stack ${wanted} in ${folder}`);
  return { project, stack, config: await stackConfig(project, stack) };
}

/** @throws UserError if the environment names no account. */
function accountOfEnvironment(log: LogLine): EndpointsApi {
  try {
    return openAccount(() => undefined, { info: log, warn: log });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const hint = "With --stack, the account is that of the stack's configuration";
    throw new UserError(`${error.message}\n${hint}`, { cause: error });
  }
}
