/** Removes what this process has started or created, and still has at its end. */
const cleanups = new Set<() => void>();
const removeAll = () => {
  for (const remove of cleanups) remove();
};

/** Calls `remove` when this process ends, or earlier when the returned function is called. */
export function removeAtExit(remove: () => void): () => void {
  // A single listener, since Node warns of more than ten.
  if (!process.listeners("exit").includes(removeAll)) process.once("exit", removeAll);
  cleanups.add(remove);
  return () => {
    cleanups.delete(remove);
    remove();
  };
}
