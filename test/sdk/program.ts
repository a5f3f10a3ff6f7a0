import * as pulumi from "@pulumi/pulumi";
import { onTestFinished } from "vitest";

/** Lets a test construct resources without an engine. The inputs of each resource become its outputs. */
export function mockEngine(onResource: (resource: pulumi.runtime.MockResourceArgs) => void = () => {}) {
  return pulumi.runtime.setMocks({
    newResource: (resource) => {
      onResource(resource);
      return { id: resource.id || `${resource.name}-id`, state: resource.inputs };
    },
    call: () => ({}),
  });
}

/** The value of an output, after the resources that it depends on are registered. */
export const resolved = <T>(output: pulumi.Output<T>) => new Promise<T>((resolve) => output.apply(resolve));

/** Collects the errors in a program until the test ends, because an unhandled rejection would fail the test run. */
export function onUnhandled(take: (error: Error) => void): void {
  const listeners = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", take);
  onTestFinished(() => {
    process.removeAllListeners("unhandledRejection");
    for (const listener of listeners) process.on("unhandledRejection", listener);
  });
}
