import * as pulumi from "@pulumi/pulumi";
import { UserError } from "../provider/data/index";
import { standInsIn } from "../provider/endpoint/standIns";
import { see } from "../provider/service/headings";
import { withoutKeys } from "../provider/service/redaction";

/* What every part of a program needs: its run, its mistakes, its outputs, and the types of its inputs. */

/** A type whose parts, at every depth, may be inputs of a program. */
export type WithInputs<T> = T extends unknown ? { [K in keyof T]: InputOf<T[K]> } : never;

export type InputOf<T> = [T] extends [readonly (infer E)[] | undefined]
  ? pulumi.Input<readonly pulumi.Input<E>[]> | undefined
  : [T] extends [object | undefined]
    ? pulumi.Input<WithInputs<NonNullable<T>>> | undefined
    : pulumi.Input<T>;

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
 * A mistake of the program. Pulumi prints only its message, once, even if many outputs fail with it.
 *
 * It has no stack. Nobody would see it, and Pulumi lets Node map the stack of every uncaught error to its sources. On Node 20,
 * that takes half a minute and a gigabyte for a frame in Pulumi's own code, whose source map is broken.
 */
export function programError(message: string, cause?: unknown): pulumi.RunError {
  // Without a listener, Node warns of each promise whose failure is handled late.
  if (!process.listeners("rejectionHandled").includes(ignored)) process.on("rejectionHandled", ignored);
  const error = Object.assign(new pulumi.RunError(), { stack: "" }, cause === undefined ? {} : { cause });
  // If an input of a resource fails with this error, Pulumi would put `error serializing property "…"` before the message.
  return Object.defineProperty(error, "message", { get: () => withoutKeys(message), set: ignored });
}

const ignored = () => {};

/**
 * Refuses a name that is built from an output, a promise, an object or a missing value. Otherwise `up` would succeed, and Pulumi
 * would take the mended name for a new resource.
 *
 * @throws RunError if the name is built so.
 */
export function assertName(kind: string, name: unknown): void {
  const text = `${name}`;
  const [standIn] = standInsIn(text).map((problem) => problem.replace(/;.*/, ""));
  const [left] = /\[object \w+\]|\{0x[\da-f]{9,}\}|(?<![^-_./])undefined(?![^-_./])/i.exec(text) ?? [];
  const problem = standIn ?? (left && `contains ${left}`);
  if (!problem) return;
  const shown = text.length > 60 ? `${text.slice(0, 25)}…${text.slice(-25)}` : text;
  throw programError(
    `the name ${JSON.stringify(shown)} of a ${kind} ${problem}; use plain text. If a stack has this name, add the option aliases: [{ name: … }] with the old expression. ${see("You renamed a resource")}`,
  );
}

/** Does the work. A `UserError` becomes a `programError`. Of all other errors, Pulumi prints the whole stack. */
export async function withProgramErrors<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof UserError ? programError(error.message, error) : error;
  }
}

/**
 * Whether a unit test runs the program with `pulumi.runtime.setMocks`. Then the mocks check the inputs and answer the data
 * sources. This is all that the package knows of tests: Pulumi tells a program nothing about its mocks.
 */
export function isMocked(): boolean {
  // Pulumi stores the mocks there, but does not declare them.
  const monitor: object = pulumi.runtime.getMonitor() ?? {};
  return "mocks" in monitor;
}

/** Calls `use` with an output's value when it is known. Resolves without a call if it is unknown, or if the output fails. */
export async function whenKnown<T>(output: pulumi.Output<T>, use: (value: T) => unknown): Promise<void> {
  if (!(await isKnown(output))) return;
  await new Promise<void>((resolve) =>
    output.apply((value) => {
      use(value);
      resolve();
    }),
  );
}

/** Whether an output's value is known. Undefined if the output failed, which is reported elsewhere. */
export async function isKnown(output: object): Promise<boolean | undefined> {
  // Pulumi stores a promise there, but does not declare it.
  const known: unknown = await Promise.resolve("isKnown" in output ? output.isKnown : true).catch(
    () => undefined,
  );
  return typeof known === "boolean" ? known : undefined;
}

/**
 * Whether the object has one of these Pulumi types. It may be a resource of another copy of this package. It may also be the
 * object that `@pulumi/policy` passes, which has only the type and is no resource.
 */
export function isOfType(object: unknown, ...types: readonly string[]): boolean {
  if (typeof object !== "object" || object === null || !("__pulumiType" in object)) return false;
  return types.some((type) => type === object.__pulumiType);
}
