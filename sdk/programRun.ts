import * as pulumi from "@pulumi/pulumi";

/**
 * State that the resources of one run of a program share. It belongs to the run's connection to the engine, since
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

/**
 * A mistake of the program. Pulumi prints its message alone.
 *
 * It has no stack: nobody would see it, and Pulumi has Node map the stack of every uncaught error to its sources. On Node
 * 20, a frame in Pulumi's own code, whose source map leads nowhere, makes that take half a minute and a gigabyte.
 */
export function programError(message: string, cause?: unknown): pulumi.RunError {
  return Object.assign(new pulumi.RunError(message), { stack: "" }, cause === undefined ? {} : { cause });
}

/** Whether an output has its value; undefined where it failed, which is reported elsewhere. */
export async function isKnown(output: object): Promise<boolean | undefined> {
  // Pulumi keeps it on the output without declaring it.
  const known: unknown = await Promise.resolve("isKnown" in output ? output.isKnown : true).catch(
    () => undefined,
  );
  return typeof known === "boolean" ? known : undefined;
}
