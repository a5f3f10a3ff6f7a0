/** The functions that remove what this process has started or created. They run when it ends. */
const cleanups = new Set<() => void>();
const removeAll = () => {
  for (const remove of cleanups) remove();
};

/** Calls `remove` when this process ends, or earlier when the returned function is called. */
export function removeAtExit(remove: () => void): () => void {
  // A single listener for all of them, because Node warns of more than ten.
  if (!process.listeners("exit").includes(removeAll)) process.once("exit", removeAll);
  cleanups.add(remove);
  return () => {
    cleanups.delete(remove);
    remove();
  };
}
