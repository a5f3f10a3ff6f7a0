import { rmSync } from "node:fs";

/** What this process has started or created, and must remove before it ends. */
const leftovers = new Set<() => void>();
const removeAll = () => {
  for (const remove of leftovers) remove();
};

/** Calls `remove` when this process ends, unless the returned function is called before. */
export function removeAtExit(remove: () => void): () => void {
  // A single listener, since Node warns of more than ten.
  if (!process.listeners("exit").includes(removeAll)) process.once("exit", removeAll);
  leftovers.add(remove);
  return () => leftovers.delete(remove);
}

/** Removes these files and folders when the returned function is called, or else when this process ends. */
export function removeLater(...paths: string[]): () => void {
  const remove = () => {
    for (const path of paths) rmSync(path, { recursive: true, force: true });
  };
  const forget = removeAtExit(remove);
  return () => {
    remove();
    forget();
  };
}
