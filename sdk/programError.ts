import * as pulumi from "@pulumi/pulumi";

/**
 * A mistake of the program, which Pulumi prints as its message alone.
 *
 * It has no stack. Nobody would see it, and Pulumi lets Node colour the stack of every error that nobody caught: a
 * frame in Pulumi's own code, whose source map leaves no path behind `node_modules/@pulumi/`, then costs Node 20 half a
 * minute and a gigabyte of memory.
 */
export function programError(message: string, cause?: unknown): pulumi.RunError {
  return Object.assign(new pulumi.RunError(message), { stack: "" }, cause === undefined ? {} : { cause });
}
