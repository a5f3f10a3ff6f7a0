import * as pulumi from "@pulumi/pulumi";
import { endpointFields } from "../../../provider/api/wire";
import { declaredEndpoints } from "./endpoints";

/**
 * The engine's own floor: resources with a constant provider string as long as ours and a state as large as ours, whose
 * provider makes no request and no check.
 */
export const NOOP_PACKAGE = "benchmarks-no-op";
const PROVIDER = `exports.handler = () => require("${NOOP_PACKAGE}/provider");`;

class Noop extends pulumi.CustomResource {
  constructor(name: string, args: object) {
    const outputs = Object.keys(endpointFields).filter((field) => field !== "id");
    const unknown = Object.fromEntries(outputs.map((field) => [field, undefined]));
    // As ours does: a floor that notes a hundred stacks for each resource would be none.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      super("pulumi-nodejs:dynamic/endpoints:BlankEndpoint", name, {
        ...unknown,
        ...args,
        __provider: PROVIDER,
      });
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }
}

export function declare(size: number, changed: boolean): void {
  for (const { name, ...args } of declaredEndpoints(size, changed)) new Noop(name, args);
}
