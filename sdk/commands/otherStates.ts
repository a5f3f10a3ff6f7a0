import { resolve } from "node:path";
import { isMapping, jsonOf, normalizeUrl } from "../../provider/data/index";
import {
  type ExportedResource,
  type ExportedState,
  isSecret,
  PulumiFailed,
  pulumi,
} from "../pulumi-cli/index";
import { messageOf } from "./command";
import { forPulumi, isSuffixOf, withProject } from "./stackNames";
import { entryOf, exported, mapConcurrently, type StateEntry, type UserProject } from "./userProject";

/*
 * The stacks of a backend that this login lists, and what their states tell about endpoints. Pulumi exports a state from any folder,
 * and without the stack's passphrase as long as no secret is shown.
 */

/** A backend with the full names of its stacks. */
export interface Backend {
  url: string;
  /** The folders of the given projects that use it. */
  folders: string[];
  stacks: string[];
}

/** What the state of a stack tells about endpoints. */
export interface ReadStack {
  /** The full name. */
  name: string;
  /** All resources with an id, of any type, without those that the program only reads. */
  entries: (StateEntry & {
    /** Undefined if the state lacks it, or encrypts it. */
    url?: string | undefined;
  })[];
  /** The creates that a run has begun. Until its end, an endpoint may be live whose id is in no state. */
  creates: { name: string; urn: string /** Undefined if it is encrypted. */; url: string | undefined }[];
}

export interface ReadStates {
  stacks: ReadStack[];
  /** The stacks whose states could not be read. */
  unread: { name: string; reason: string }[];
}

/** Why the state of a stack does not tell which endpoint it has. */
export const ENCRYPTED_CREATE = "it is creating an endpoint whose URL is encrypted";

/** @throws PulumiFailed if a backend cannot be listed. One truncated state file fails the whole list. */
export async function backendsOf(projects: readonly UserProject[], signal?: AbortSignal): Promise<Backend[]> {
  const backends: Backend[] = [];
  const urls = new Map<string | undefined, string[]>();
  for (const { folder, backend } of projects) {
    const [told = ""] =
      urls.get(backend) ?? (await jsonFrom(["whoami", "--json"], "url", { cwd: folder, signal }));
    urls.set(backend, [told]);
    const url = told.startsWith("file://.")
      ? `file://${resolve(folder, told.slice("file://".length))}`
      : told;
    const known = backends.find((one) => one.url === url);
    if (known) known.folders.push(folder);
    else {
      const stacks = await jsonFrom(["stack", "ls", "--all", "--json", "-Q"], "name", {
        cwd: folder,
        signal,
      });
      backends.push({ url, folders: [folder], stacks });
    }
  }
  return backends;
}

/** The texts of this key in a JSON object, or in a list of them, that the CLI prints. */
async function jsonFrom(
  args: string[],
  key: string,
  options: { cwd: string; signal: AbortSignal | undefined },
): Promise<string[]> {
  const printed = [jsonOf((await pulumi(args, options)).stdout)].flat();
  return printed.flatMap((one) => (isMapping(one) && typeof one[key] === "string" ? [one[key]] : []));
}

/** The backends without these stacks, which are named as in reports. */
export async function withoutStacks(
  backends: readonly Backend[],
  checked: readonly { name: string; project: string; folder: string }[],
): Promise<Backend[]> {
  return Promise.all(
    backends.map(async (backend) => {
      const own = checked.filter(({ folder }) => backend.folders.includes(folder));
      const names = await Promise.all(own.map((one) => fullNameOf(one, backend.stacks)));
      return { ...backend, stacks: backend.stacks.filter((name) => !names.includes(name)) };
    }),
  );
}

/** A name without its organization is that of several stacks if the login has several organizations. Then Pulumi decides. */
async function fullNameOf(
  { name, project, folder }: { name: string; project: string; folder: string },
  stacks: readonly string[],
): Promise<string | undefined> {
  const [only, ...more] = stacks.filter((fullName) => isSuffixOf(fullName, withProject(name, project)));
  if (more.length === 0) return only;
  const args = ["stack", "--show-name", "-Q", "--stack", forPulumi(name, project)];
  return (await pulumi(args, { cwd: folder })).stdout.trim();
}

/** Reads the states of all stacks. A stack that is gone since the list is left out. */
export async function readStates(backends: readonly Backend[], signal?: AbortSignal): Promise<ReadStates> {
  const unread: ReadStates["unread"] = [];
  const named = backends.flatMap(({ folders: [folder = "."], stacks }) =>
    stacks.map((name) => ({ folder, name })),
  );
  const read = await mapConcurrently(named, async ({ folder, name }) => {
    try {
      return [stackIn(name, await exported(["--stack", name], folder, signal))];
    } catch (error) {
      const isGone = error instanceof PulumiFailed && error.isUnknownStack;
      if (!isGone) unread.push({ name, reason: messageOf(error) });
      return [];
    }
  });
  return { stacks: read.flat(), unread };
}

function stackIn(name: string, { deployment }: ExportedState): ReadStack {
  const { resources = [], pending_operations: pending = [] } = deployment;
  const begun = pending.flatMap(({ type, resource }) => (type === "creating" ? [resource] : []));
  const creates = begun.flatMap((resource) => {
    const url = resource.inputs?.["url"];
    const isEncrypted = isSecret(url);
    if (typeof url !== "string" && !isEncrypted) return [];
    const { name, urn } = entryOf(resource);
    return [{ name, urn, url: isEncrypted ? undefined : (normalizeUrl(String(url)) ?? String(url)) }];
  });
  const managed = resources.filter(({ id, external }) => Boolean(id) && external !== true);
  return {
    name,
    entries: managed.map((one) => ({ ...entryOf(one), url: shownUrl(one) })),
    creates,
  };
}

function shownUrl({ inputs, outputs }: ExportedResource): string | undefined {
  const urls = [outputs?.["url"], inputs?.["url"]].filter((url) => url !== undefined);
  return urls.every((url) => typeof url === "string") ? urls[0] : undefined;
}
