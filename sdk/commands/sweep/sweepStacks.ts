import { existsSync, readdirSync } from "node:fs";
import { userInfo } from "node:os";
import { join, resolve } from "node:path";
import type { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import { UserError } from "../../../provider/api/apiErrors";
import type { ConfigReader } from "../../../provider/api/settings";
import type { Projects } from "../projects";
import { encryptedState, hasRun, openProject, type State, stackConfig } from "../userProject";

/* The stacks of `sweep`, through the Pulumi CLI. Nothing here takes a stack's lock or writes. */

export interface SweepStack {
  /** `project/stack`, as in marks. */
  readonly key: string;
  /** Whether it only shows which endpoints are in use (`--known`). */
  readonly isKnown: boolean;
  /** Secrets decrypted. */
  config(): Promise<ConfigReader>;
  /** Secrets encrypted. */
  state(): Promise<State>;
  /** Whether the backend has a run of this stack in its history. */
  hasRun(): Promise<boolean>;
}

/** What the backends show at a moment. */
export interface Backends {
  /** `project/stack` of all stacks that they list. */
  listed: string[];
  /** Why a run of a stack may be in progress, by `project/stack`. */
  running: Map<string, string>;
}

export interface SweepStacks {
  stacks: SweepStack[];
  look(): Promise<Backends>;
  /** The URLs of the backends whose locks cannot be seen. */
  hidden: string[];
}

export type OpenSweepStacks = (projects: Projects) => Promise<SweepStacks>;

export const openSweepStacks: OpenSweepStacks = async ({ projects, known }) => {
  const stacks: SweepStack[] = [];
  const backends: { workspace: LocalWorkspace; project: string; url: string }[] = [];
  for (const { folder, name: project, stacks: given } of projects) {
    const workspace = await openProject(folder, "sweep", "");
    backends.push({ workspace, project, url: (await workspace.whoAmI()).url ?? "" });
    const names = given.length > 0 ? given : [(await workspace.stack())?.name];
    for (const name of names) {
      if (name === undefined) throw new UserError(`no stack of ${project} is selected: give --stack`);
      stacks.push(stackOf(workspace, project, name, { isKnown: false }));
    }
  }
  const [first] = backends;
  for (const name of known)
    if (first) stacks.push(stackOf(first.workspace, first.project, name, { isKnown: true }));

  const look = async (): Promise<Backends> => {
    const seen: Backends = { listed: [], running: new Map() };
    for (const { workspace, project, url } of backends) {
      for (const { name, updateInProgress } of await workspace.listStacks({ all: true })) {
        seen.listed.push(keyOf(name, project));
        if (updateInProgress) seen.running.set(keyOf(name, project), "a run is in progress");
      }
      const locked = stacks.filter(({ key }) => isLocked(url, workspace.workDir, key));
      for (const { key } of locked)
        seen.running.set(key, "it is locked by a run (of a killed one, `pulumi cancel` removes the lock)");
    }
    return seen;
  };
  return { stacks, look, hidden: backends.map(({ url }) => url).filter((url) => HIDES_LOCKS.test(url)) };
};

/** Storage whose locks the CLI never shows: it reports runs of Pulumi Cloud only. */
const HIDES_LOCKS = /^(?!file:|https?:)\w+:/;

/** @param name `dev`, `organization/dev` or `organization/project/dev`. */
function keyOf(name: string, project: string): string {
  const parts = name.split("/");
  return `${parts.length === 3 ? parts[1] : project}/${parts.at(-1)}`;
}

function stackOf(
  workspace: LocalWorkspace,
  project: string,
  name: string,
  { isKnown }: { isKnown: boolean },
): SweepStack {
  return {
    key: keyOf(name, project),
    isKnown,
    config: () => stackConfig(workspace, name),
    // The Automation API would decrypt the secrets, for which a known stack would need its passphrase.
    state: () => encryptedState(workspace, name),
    hasRun: () => hasRun(workspace, name),
  };
}

/**
 * Whether a backend in a folder has a lock of this stack.
 *
 * @param folder The folder in which Pulumi runs.
 */
export function isLocked(url: string, folder: string, key: string): boolean {
  if (!url.startsWith("file:")) return false;
  // On Windows, `file:///C:/state` has a slash too many for a path.
  const path = decodeURIComponent(url.replace(/^file:\/\/|\?.*$/g, "")).replace(/^\/(?=[a-z]:)/i, "");
  // Pulumi takes the home from the system's list of users, and a relative path from the folder that it runs in.
  const root = resolve(folder, path.replace(/^~/, userInfo().homedir));
  // Backends from before Pulumi 3.61 have no projects.
  const folders = [join("organization", key), key.split("/")[1] ?? ""];
  return folders
    .map((name) => join(root, ".pulumi", "locks", name))
    .some((locks) => existsSync(locks) && readdirSync(locks).some((name) => name.endsWith(".json")));
}
