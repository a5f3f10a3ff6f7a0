import type * as pulumi from "@pulumi/pulumi";

type Mocks = pulumi.runtime.Mocks;
export type PartialMocks = Partial<Mocks>;

/** Mocks with defaults for what the test leaves out: a resource's outputs are its inputs, and a call returns its arguments. */
export const completeMocks = ({ newResource, call }: PartialMocks): Mocks => ({
  newResource: async (args) => (await newResource?.(args)) ?? { id: `${args.name}_id`, state: args.inputs },
  call: async (args) => (await call?.(args)) ?? args.inputs,
});
