import * as pulumi from "@pulumi/pulumi";
import { endpointFields } from "../../../../provider/endpoint/fields";
import { declaredEndpoints } from "./endpoints";

/**
 * Measures the engine alone: the provider string and the state are as large as ours, but the provider makes no requests and
 * no checks.
 */
export const NOOP_PACKAGE = "benchmarks-no-op";
const PROVIDER = `exports.handler = () => require("${NOOP_PACKAGE}/provider");`;

class Noop extends pulumi.CustomResource {
  constructor(name: string, args: object) {
    const outputs = Object.keys(endpointFields).filter((field) => field !== "id");
    const unknown = Object.fromEntries(outputs.map((field) => [field, undefined]));
    // Our class does this, too. With stack traces, each resource would take longer than ours.
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
