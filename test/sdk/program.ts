import * as pulumi from "@pulumi/pulumi";

/** Lets a test construct resources without an engine: each one is created with its inputs as its outputs. */
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
