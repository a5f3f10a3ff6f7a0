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
 * A mistake of the program. Pulumi prints its message alone, once, however much waits for what fails with it.
 *
 * It has no stack: nobody would see it, and Pulumi has Node map the stack of every uncaught error to its sources. On Node
 * 20, a frame in Pulumi's own code, whose source map leads nowhere, makes that take half a minute and a gigabyte.
 */
export function programError(message: string, cause?: unknown): pulumi.RunError {
  // Node would warn of every promise whose failure is handled later than it is reported.
  if (!process.listeners("rejectionHandled").includes(ignored)) process.on("rejectionHandled", ignored);
  const error = Object.assign(new pulumi.RunError(), { stack: "" }, cause === undefined ? {} : { cause });
  // Pulumi sets another message, `error serializing property "…"` in front of ours, where a resource waits for it.
  return Object.defineProperty(error, "message", { get: () => message, set: ignored });
}

const ignored = () => {};

/** Whether a unit test runs the program. Its mocks judge the inputs. */
export function isMocked(): boolean {
  // Pulumi keeps the mocks on it without declaring them.
  const monitor: object = pulumi.runtime.getMonitor() ?? {};
  return "mocks" in monitor;
}

/** Gives an output's value to `use`, once there is one. Resolves without it where the value is unknown, or fails. */
export async function whenKnown<T>(output: pulumi.Output<T>, use: (value: T) => unknown): Promise<void> {
  if (!(await isKnown(output))) return;
  await new Promise<void>((resolve) =>
    output.apply((value) => {
      use(value);
      resolve();
    }),
  );
}

/** Whether an output has its value; undefined where it failed, which is reported elsewhere. */
export async function isKnown(output: object): Promise<boolean | undefined> {
  // Pulumi keeps it on the output without declaring it.
  const known: unknown = await Promise.resolve("isKnown" in output ? output.isKnown : true).catch(
    () => undefined,
  );
  return typeof known === "boolean" ? known : undefined;
}
