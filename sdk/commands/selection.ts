import { existsSync, writeFileSync } from "node:fs";
import type { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import { UserError } from "../../provider/api/apiErrors";
import type { LiveEndpoint, Owner } from "../../provider/api/contract";
import type { EndpointsApi } from "../../provider/api/endpoints";
import { stackText } from "../../provider/api/mark";
import { ConfigError, type ConfigReader, readSettings } from "../../provider/api/settings";
import { oneLine } from "../../provider/api/text";
import { urlOf } from "../../provider/api/url";
import { otherStack as otherOwner } from "../../provider/endpoint/owners";
import { shortAddress, TerraformState } from "./adopt/terraform";
import {
  count,
  grouped,
  type LogLine,
  messageOf,
  type Options,
  outputFile,
  type Streams,
  shellWord,
  UsageError,
  type Values,
} from "./command";
import { isIgnored, projectsOf, projectsOptions, stacksWithAccount } from "./projects";
import { selectorsOf } from "./selectors";
import {
  backendStacks,
  cloudEndpoints,
  knownIds,
  managedEndpoints,
  openAccount,
  openProject,
  stackConfig,
  stackState,
} from "./userProject";

/* The endpoints of an account that `adopt` and `import-file` bring into a program. */

const SELECTS = "a URL in which * matches any text, an id, metadata.KEY=VALUE, or binding=NAME";

export const selectionOptions = {
  select: {
    value: "WHAT",
    help: `only these endpoints: ${SELECTS}. What carries the mark of another stack (endpoints:mark) is taken only by its id`,
    isRepeatable: true,
  },
  except: { value: "WHAT", help: "not these endpoints, with the same values", isRepeatable: true },
  stack: {
    value: "S",
    help: "the stack that will manage the endpoints. Its configuration, in the project's folder, names the account. Its endpoints are left out. Needs the Pulumi CLI. Other stacks after it only have their endpoints left out",
    isRepeatable: true,
  },
  known: projectsOptions.known,
  projects: projectsOptions.projects,
  ignore: projectsOptions.ignore,
  terraform: {
    value: "F",
    help: "only the endpoints of this Terraform state, named by their addresses: a state file, or the output of terraform show -json; - reads stdin. --select and --except then take addresses, too",
  },
  cwd: { value: "DIR", help: "the project's folder (default: this one)", needs: ["stack", "known"] },
  out: { value: "F", help: "the file to write (default: stdout)", parse: outputFile },
  force: { help: "overwrite that file", needs: ["out"] },
} as const satisfies Options;

type Chosen = Values<typeof selectionOptions>;

interface SelectedEndpoints {
  account: EndpointsApi;
  /** Sorted by URL and id, so that the result does not depend on the order of the list. */
  endpoints: LiveEndpoint[];
  /** The stack that will manage the endpoints: the first one of `--stack`. */
  target: TargetStack | undefined;
  /** Whether a resource of that stack has this name. */
  isTaken(name: string): boolean;
  /** The endpoint's address in the state of `--terraform`. */
  addressOf(id: string): string | undefined;
  /** Logs how Terraform forgets the endpoints that were written, and those that the stack has already. */
  logForget(written: readonly LiveEndpoint[]): void;
}

export interface TargetStack {
  project: LocalWorkspace;
  stack: string;
  config: ConfigReader;
}

/**
 * Reads the account, and logs the number of endpoints that it leaves out, with the reason.
 *
 * @throws UsageError before any request if the result could not be written.
 */
export async function selectEndpoints(options: Chosen, log: LogLine): Promise<SelectedEndpoints> {
  const { select, except, known, stack: stacks, cwd, out, force, projects: file, ignore } = options;
  if (out !== undefined && existsSync(out) && !force)
    throw new UsageError(`${out} exists; give --force to overwrite it, or another --out`);

  const { terraform: state } = options;
  const terraform = state === undefined ? undefined : await TerraformState.read(state);
  const addressOf = (id: string) => terraform?.addressOf(id);
  const listed = file === undefined ? undefined : await projectsOf({ projects: file });
  let target: TargetStack | undefined;
  const managed = new Map<string, readonly { id: string; name?: string }[]>();
  const leaveOut = async (folder: string, option: string, name: string, each = name) => {
    const ids = await knownIds(await openProject(folder, option, ""), each);
    managed.set(
      name,
      ids.map((id) => ({ id })),
    );
  };
  for (const each of [...known, ...(listed?.known ?? [])]) await leaveOut(cwd ?? ".", "--known", each);
  for (const { folder, name, stacks: own } of listed?.projects ?? [])
    for (const each of own) await leaveOut(folder, "--projects", `${name}/${each.split("/").at(-1)}`, each);
  const [given] = stacks;
  if (given !== undefined) {
    // Refuses a stack of another project, in whose folder neither Pulumi nor the written program belongs.
    const { projects } = await projectsOf({ stack: [given], cwd: [cwd ?? "."] });
    const stack = projects[0]?.stacks[0] ?? given;
    const alternative = ", or leave --stack out and set ENDPOINTS_API_KEY and ENDPOINTS_BASE_URL";
    const project = await openProject(cwd ?? ".", "--stack", alternative);
    target = { project, stack, config: await stackConfig(project, stack) };
    for (const each of stacks) managed.set(each, managedEndpoints(await stackState(project, each)));
  }

  const account = target ? openAccount(target.config, log) : accountOfEnvironment(cwd ?? ".", log);
  const cloud = await cloudEndpoints(account);
  log(`The account has ${count(cloud.length, "cloud endpoint")}.`);
  terraform?.report(cloud, log);
  const sortKey = (live: LiveEndpoint) => `${urlOf(live)} ${live.id}`;
  let endpoints = [...cloud].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  /** Keeps some of the endpoints, and logs how many it leaves out. */
  const keep = (isKept: (live: LiveEndpoint) => boolean, why: string) => {
    const left = endpoints.length;
    endpoints = endpoints.filter(isKept);
    if (endpoints.length < left) log(`Left out: ${left - endpoints.length} ${why}`);
  };
  if (terraform) keep(({ id }) => addressOf(id) !== undefined, "that the Terraform state does not have");
  const wanted = selectorsOf("--select", select, cloud, addressOf);
  if (wanted.length > 0) keep((live) => wanted.some((selects) => selects(live)), "not matched by --select");
  const excepted = selectorsOf("--except", except, cloud, addressOf);
  keep((live) => !excepted.some((selects) => selects(live)), "matched by --except");
  for (const [name, all] of managed) {
    const ids = new Set(all.map(({ id }) => id));
    keep(({ id }) => !ids.has(id), `that the stack ${name} manages already`);
  }
  const ignored = [...(listed?.ignored ?? []), ...(ignore ?? [])];
  keep((live) => !ignored.some((one) => isIgnored(live, one)), "that are meant to be there");
  const own = target && (await ownerOf(target));
  const otherStack = (live: LiveEndpoint) => {
    const owner = otherOwner(live, own);
    return owner && stackText(owner);
  };
  for (const owner of grouped(endpoints, otherStack).keys())
    if (owner !== undefined)
      keep(
        (live) => otherStack(live) !== owner || select.includes(live.id),
        `with the mark of the stack ${owner}; --select takes one by its id, ep_…`,
      );
  endpoints = endpoints.filter((live) => {
    const refusal = terraform?.refusal(live.id);
    // Its addresses are printable, and must keep their blanks.
    if (refusal !== undefined)
      log(`Left out: ${oneLine(`${live.id} (${live.url ?? "no URL"})`)}: ${refusal}`);
    return refusal === undefined;
  });
  if (target && endpoints.length > 0) {
    const ofFile = (listed?.projects ?? []).flatMap(({ name, stacks: all }) =>
      all.map((stack) => `organization/${name}/${stack.split("/").at(-1)}`),
    );
    await logOtherStacks(target, [...stacks, ...known, ...(listed?.known ?? []), ...ofFile], log);
  }
  const ofTarget = managed.get(given ?? "") ?? [];
  const names = new Set(ofTarget.map(({ name }) => name));
  return {
    ...{ account, endpoints, target, addressOf, isTaken: (name) => names.has(name) },
    logForget: (written) => terraform?.logForget(new Set([...written, ...ofTarget].map(({ id }) => id)), log),
  };
}

/** More stacks are counted. */
const MOST_STACKS = 20;

/** Names the backend's stacks that were not read: an endpoint without a mark does not show who manages it. */
async function logOtherStacks(
  { project }: TargetStack,
  read: readonly string[],
  log: LogLine,
): Promise<void> {
  try {
    const { name: own } = await project.projectSettings();
    /** `dev` and `organization/dev` are stacks of this project. */
    const keyOf = (stack: string) => {
      const [last, of, first] = stack.split("/").reverse();
      return `${first === undefined ? own : of}/${last}`;
    };
    const keys = new Set(read.map(keyOf));
    const others = (await backendStacks(project)).filter((stack) => !keys.has(keyOf(stack)));
    if (others.length === 0) return;
    const options = others.slice(0, MOST_STACKS).map((stack) => `--known ${shellWord(stack)}`);
    const more = others.length - options.length;
    log(
      `Other stacks of this backend may manage some of these; leave them out with ${options.join(" ")}${more > 0 ? `, and ${more} more (pulumi stack ls --all)` : ""}`,
    );
  } catch (error) {
    log(`Other stacks of this backend may manage some of these: ${messageOf(error)}`);
  }
}

/** Reports an endpoint that no program gets. */
export const logLeftOut = (log: LogLine, { id, url }: LiveEndpoint, reason: string): void =>
  log(`Left out: ${oneLine(`${id} (${url ?? "no URL"}): ${reason}`)}`);

/** The target stack, as an owner of marks. Undefined if it does not mark its creates. */
async function ownerOf({ project, stack, config }: TargetStack): Promise<Owner | undefined> {
  const namespace = readSettings(config).mark;
  if (namespace === undefined) return undefined;
  // `dev`, `organization/dev` or `organization/project/dev`.
  const name = stack.split("/").at(-1);
  return { namespace, urn: `urn:pulumi:${name}::${(await project.projectSettings()).name}` };
}

/** @throws UserError if the environment names no account. It says which stacks of the project in the folder name one. */
function accountOfEnvironment(folder: string, log: LogLine): EndpointsApi {
  try {
    return openAccount(() => undefined, log);
  } catch (error) {
    const stacks = error instanceof ConfigError ? stacksWithAccount(folder) : [];
    if (!(error instanceof ConfigError) || stacks.length === 0) throw error;
    const options = stacks.map((stack) => `--stack ${stack}`).join(" or ");
    const hint = `This project has an account in its settings: to use it, give ${options}`;
    throw new UserError(`${error.message}\n${hint}`, { cause: error });
  }
}

/** Writes the result to stdout or to the file of --out, and logs the number of endpoints in it. */
export function writeResult(
  { out, force }: Pick<Chosen, "out" | "force">,
  { stdout, log }: Streams & { log: LogLine },
  number: number,
  text: string,
): void {
  if (out === undefined) stdout.write(text);
  else writeFileSync(out, text, { flag: force ? "w" : "wx" });
  log(`Selected: ${count(number, "endpoint")}${out === undefined ? "" : `, written to ${out}`}`);
}

/**
 * A name for each endpoint, by id: the host in its URL; if others have the same, with its scheme; else with a number,
 * which follows the order of the endpoints. An endpoint with an address in Terraform is named by that, short or else whole.
 * No two names are equal, and none is taken.
 */
export function namesOf(
  endpoints: readonly LiveEndpoint[],
  isTaken: (name: string) => boolean,
  addressOf: (id: string) => string | undefined = () => undefined,
): Map<string, string> {
  const all = endpoints.map((endpoint) => {
    const url = urlOf(endpoint) ?? "";
    const [scheme = "", host = url] = url.split("://");
    const address = addressOf(endpoint.id);
    const short = slug(address === undefined ? host : shortAddress(address));
    return { id: endpoint.id, short, wanted: new Set([short, slug(address ?? `${short}-${scheme}`)]) };
  });
  const users = new Map<string, number>();
  for (const { wanted } of all) for (const name of wanted) users.set(name, (users.get(name) ?? 0) + 1);
  const numbers = new Map<string, number>();
  const numbered = (name: string): string => {
    for (let number = (numbers.get(name) ?? 0) + 1; ; number++) {
      const next = `${name}-${number}`;
      if (users.has(next) || isTaken(next)) continue;
      numbers.set(name, number);
      users.set(next, 1);
      return next;
    }
  };
  return new Map(
    all.map(({ id, short, wanted }) => {
      const own = [...wanted].find((name) => users.get(name) === 1 && !isTaken(name));
      return [id, own ?? numbered(short)];
    }),
  );
}

/** A resource's name: letters, digits and hyphens. */
const slug = (name: string): string =>
  name
    .replaceAll("*.", "wildcard.")
    .replace(/[^A-Za-z0-9_]+/g, "-")
    .replace(/^-+|-+$/g, "") || "endpoint";
