import type { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import type { LiveEndpoint } from "../../provider/api/contract";
import type { EndpointsApi } from "../../provider/api/endpoints";
import { urlOf } from "../../provider/api/url";
import type { ConfigReader } from "../../provider/config";
import { cloudEndpoints, noConfig, openAccount, urlMatcher } from "./account";
import { count, type Destination, log, UsageError } from "./command";
import { managedEndpoints } from "./managed";
import { openProject, projectName, stackConfig, stackState } from "./pulumi";

/* The endpoints of an account that `adopt` and `import-file` bring into a program. */

/** The options of such a command, as `parseArgs` takes them. */
export const selectionOptions = {
  select: { type: "string", multiple: true },
  stack: { type: "string", multiple: true },
  cwd: { type: "string" },
  out: { type: "string" },
  force: { type: "boolean" },
} as const;

export const SELECTION_HELP = `  --select PATTERN      only endpoints with such a URL; * stands for any text. May be repeated
  --stack S             the stack that will manage the endpoints: its configuration names the account,
                        and what it manages already is left out. Needs the Pulumi CLI. Repeat it to
                        leave out what other stacks of the project manage
  --cwd DIR             the project's folder, with --stack (default: .)
  --out F               the file to write (default: stdout)
  --force               overwrite that file`;

interface SelectionOptions {
  select: string[];
  /** The first is the one that will manage the endpoints. */
  stacks: string[];
  cwd: string;
  out: Destination;
}

interface Selection {
  account: EndpointsApi;
  /** By URL. */
  endpoints: LiveEndpoint[];
  /** The stack that will manage the endpoints. */
  target: Target | undefined;
  /** Whether a resource of that stack has this name. */
  isTaken(name: string): boolean;
}

export interface Target {
  project: LocalWorkspace;
  stack: string;
  /** The project's name, the namespace of its own configuration. */
  name: string;
  config: ConfigReader;
}

/** Throws UsageError if the options contradict each other. */
export function selectionOf(values: {
  select?: string[] | undefined;
  stack?: string[] | undefined;
  cwd?: string | undefined;
  out?: string | undefined;
  force?: boolean | undefined;
}): SelectionOptions {
  const { select = [], stack = [], cwd, out, force = false } = values;
  if (cwd !== undefined && stack.length === 0) throw new UsageError("--cwd goes with --stack");
  if (force && out === undefined) throw new UsageError("--force goes with --out");
  // An unset variable of a script must not mean the selected stack.
  if (stack.includes("")) throw new UsageError("--stack must not be empty");
  return { select, stacks: stack, cwd: cwd ?? ".", out: { file: out, force } };
}

/** Reads the account, and logs what is left out and why. */
export async function selectEndpoints({ select, stacks, cwd }: SelectionOptions): Promise<Selection> {
  const alternative = ", or leave --stack out and set ENDPOINTS_API_KEY and ENDPOINTS_BASE_URL";
  const project = stacks.length > 0 ? await openProject(cwd, "--stack", alternative) : undefined;
  const [stack] = stacks;
  const target: Target | undefined =
    project && stack !== undefined
      ? { project, stack, name: await projectName(project), config: await stackConfig(project, stack) }
      : undefined;
  const managed: { id: string; name: string; stack: string }[] = [];
  if (project)
    for (const stack of stacks)
      for (const { id, name } of managedEndpoints(await stackState(project, stack)))
        managed.push({ id, name, stack });

  const account = openAccount(target?.config ?? noConfig, log);
  const cloud = await cloudEndpoints(account);
  const selected = cloud.filter(urlMatcher(select));
  for (const pattern of select) {
    if (!cloud.some(urlMatcher([pattern])))
      throw new UsageError(`no cloud endpoint of the account has a URL like ${pattern}`);
  }
  const ids = new Set(managed.map(({ id }) => id));
  const endpoints = selected.filter(({ id }) => !ids.has(id)).sort(byUrl);

  log(`The account has ${count(cloud.length, "cloud endpoint")}.`);
  if (selected.length < cloud.length)
    log(`Left out: ${cloud.length - selected.length} not matched by --select`);
  for (const stack of stacks) {
    const inStack = new Set(managed.filter((one) => one.stack === stack).map(({ id }) => id));
    const number = selected.filter(({ id }) => inStack.has(id)).length;
    if (number > 0) log(`Left out: ${number} that the stack ${stack} manages already`);
  }
  const names = new Set(managed.filter((one) => one.stack === stack).map(({ name }) => name));
  return { account, endpoints, target, isTaken: (name) => names.has(name) };
}

function byUrl(a: LiveEndpoint, b: LiveEndpoint): number {
  const key = (endpoint: LiveEndpoint) => `${urlOf(endpoint)} ${endpoint.id}`;
  return key(a) < key(b) ? -1 : 1;
}
