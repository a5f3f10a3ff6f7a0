import type { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import type { LiveEndpoint } from "../../provider/api/items";
import type { Listing } from "../../provider/listing";
import { urlOf } from "../../provider/lookup";
import { cloudEndpoints, noConfig, openAccount, selection } from "./account";
import { count, type Destination, tell, UsageError } from "./command";
import {
  type ManagedEndpoint,
  managedEndpoints,
  openProject,
  projectName,
  stackValues,
  type Value,
} from "./stacks";

/* Which of an account's endpoints a command takes that brings existing endpoints into a program. */

/** The options of such a command, as `parseArgs` takes them. */
export const choiceOptions = {
  select: { type: "string", multiple: true },
  stack: { type: "string", multiple: true },
  cwd: { type: "string" },
  out: { type: "string" },
  force: { type: "boolean" },
} as const;

export const CHOICE_HELP = `  --select PATTERN      only endpoints with such a URL; * stands for any text. May be repeated
  --stack S             the stack that is to have them: its configuration says where the account is,
                        and what it manages is left out. Needs the Pulumi CLI. Repeat it to leave out
                        what other stacks of the project manage
  --cwd DIR             the project's folder, with --stack (default: .)
  --out F               the file to write (default: stdout)
  --force               overwrite that file`;

export interface ChoiceOptions {
  select: string[];
  /** The first is the one that is to have the endpoints. */
  stacks: string[];
  cwd: string;
  out: Destination;
}

export interface Choice {
  account: Listing;
  /** By URL. */
  endpoints: LiveEndpoint[];
  /** The stack that is to have them. */
  target: Target | undefined;
  /** Whether a resource of that stack has this name. */
  isTaken(name: string): boolean;
}

export interface Target {
  project: LocalWorkspace;
  stack: string;
  /** The project's name, under which its own configuration stands. */
  name: string;
  /** The stack's configuration by full key, secrets in plain. */
  values: ReadonlyMap<string, Value>;
}

/** Throws UsageError where the options do not go together. */
export function readChoice(values: {
  select?: string[] | undefined;
  stack?: string[] | undefined;
  cwd?: string | undefined;
  out?: string | undefined;
  force?: boolean | undefined;
}): ChoiceOptions {
  const { select = [], stack = [], cwd, out, force = false } = values;
  if (cwd !== undefined && stack.length === 0) throw new UsageError("--cwd goes with --stack");
  if (force && out === undefined) throw new UsageError("--force goes with --out");
  // An unset variable of a script must not mean the selected stack.
  if (stack.includes("")) throw new UsageError("--stack must not be empty");
  return { select, stacks: stack, cwd: cwd ?? ".", out: { file: out, force } };
}

/** Reads the account, and tells what is left out and why. */
export async function choose({ select, stacks, cwd }: ChoiceOptions): Promise<Choice> {
  const [stack] = stacks;
  const project = stack === undefined ? undefined : await openProject(cwd);
  const target =
    project && stack !== undefined
      ? { project, stack, name: await projectName(project), values: await stackValues(project, stack) }
      : undefined;
  const config = target ? (key: string) => target.values.get(key)?.value : noConfig;

  const managed: (ManagedEndpoint & { stack: string })[] = [];
  if (project)
    for (const stack of stacks)
      managed.push(...(await managedEndpoints(project, stack)).map((one) => ({ ...one, stack })));

  const account = openAccount(config, tell);
  const { cloud, others } = await cloudEndpoints(account);
  const selected = cloud.filter(selection(select));
  for (const pattern of select) {
    if (!cloud.some(selection([pattern])))
      throw new UsageError(`no cloud endpoint of the account has a URL like ${pattern}`);
  }
  const ids = new Set(managed.map(({ id }) => id));
  const endpoints = selected.filter(({ id }) => !ids.has(id)).sort(byUrl);

  tell(`The account has ${count(cloud.length, "cloud endpoint")}.`);
  if (others > 0) tell(`Left out: ${others} of other types, which a program reads and does not manage`);
  if (selected.length < cloud.length)
    tell(`Left out: ${cloud.length - selected.length} not matched by --select`);
  for (const stack of stacks) {
    const theirs = new Set(managed.filter((one) => one.stack === stack).map(({ id }) => id));
    const number = selected.filter(({ id }) => theirs.has(id)).length;
    if (number > 0) tell(`Left out: ${number} that the stack ${stack} manages already`);
  }
  const names = new Set(managed.filter((one) => one.stack === stack).map(({ name }) => name));
  return { account, endpoints, target, isTaken: (name) => names.has(name) };
}

function byUrl(a: LiveEndpoint, b: LiveEndpoint): number {
  const key = (endpoint: LiveEndpoint) => `${urlOf(endpoint)} ${endpoint.id}`;
  return key(a) < key(b) ? -1 : 1;
}
