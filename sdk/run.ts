import * as pulumi from "@pulumi/pulumi";

/**
 * What the resources of one run of a program have to know of each other. By the run's connection to the engine, since
 * several runs can share a process.
 */
export function perRun<T>(start: () => T): () => T {
  const runs = new WeakMap<object, T>();
  return () => {
    const connection = pulumi.runtime.getMonitor() ?? runs;
    const known = runs.get(connection) ?? start();
    runs.set(connection, known);
    return known;
  };
}
