import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as grpc from "@grpc/grpc-js";
import { ResourceMonitorClient } from "@pulumi/pulumi/proto/resource_grpc_pb";
import * as pb from "@pulumi/pulumi/proto/resource_pb";
import { temporaryFolder } from "../../../test/folders";
import type { Props } from "../../pulumi-cli/index";
import { Deployment, type RunOutcome } from "../engine/deployment";
import { stackReferences } from "../engine/mockedProvider";
import { Monitor } from "../engine/monitor";
import type { RunSetup } from "../engine/processes";
import { toStruct } from "../engine/protocol";
import type { RunOptions, StackOptions } from "../index";

/* Runs the engine without processes: the test itself is the program, and mocks are the providers. */

export type ReplyCallback<A> = (error: Error | null, reply: A) => void;
export const call = <A>(send: (answer: ReplyCallback<A>) => unknown): Promise<A> =>
  new Promise((resolve, reject) => send((error, reply) => (error ? reject(error) : resolve(reply))));

/** The registration of a resource, by default of the package `random`, for which the engine has mocks. */
export const resource = (name: string, inputs: Props = {}, type = "random:index:Thing") =>
  new pb.RegisterResourceRequest()
    .setType(type)
    .setName(name)
    .setCustom(true)
    .setObject(toStruct(inputs))
    .setAcceptsecrets(true)
    .setAcceptresources(true);

export class InProcessEngine {
  readonly stateFile = join(temporaryFolder(), "state.json");

  constructor(private readonly others: StackOptions["others"] | null = {}) {}

  get state() {
    const text = existsSync(this.stateFile) ? readFileSync(this.stateFile, "utf8") : '{"deployment":{}}';
    const { resources = [], pending_operations } = JSON.parse(text).deployment;
    return { resources, pending_operations } as {
      resources: Props[];
      pending_operations?: Props[];
    };
  }

  /** The names of the resources in the state for which the condition holds. */
  named = (wanted: (state: Props) => unknown) =>
    this.state.resources.filter(wanted).map(({ urn }) => String(urn).split("::").at(-1));

  /** Runs `up` for a program that registers these resources in this order. */
  register = (...all: pb.RegisterResourceRequest[]) =>
    this.run(async (monitor) => {
      for (const each of all) await call((answer) => monitor.registerResource(each, answer));
    });

  /** Runs a program. It ends at the first failure. */
  async run(
    program: (monitor: ResourceMonitorClient) => Promise<unknown>,
    { dryRun = false, ...options }: RunOptions & { dryRun?: boolean } = {},
  ): Promise<RunOutcome> {
    const folder = temporaryFolder();
    const run: RunSetup = {
      project: {
        name: "case",
        root: folder,
        folder,
        entry: ".",
        typescript: false,
        plugins: new Map(),
        own: new Set(["ours"]),
        config: {},
        refreshesFirst: false,
      },
      stack: "test",
      env: {},
      dryRun,
      parallel: 8,
      startLimit: 10_000,
      stateFile: this.stateFile,
      config: {},
      mocksOf: (package_) =>
        package_ === "pulumi"
          ? stackReferences()
          : package_ === "random"
            ? (this.others ?? undefined)
            : undefined,
    };
    const deployment = new Deployment(run, dryRun ? "Previewing update" : "Updating", options);
    const monitor = new Monitor(deployment);
    const client = new ResourceMonitorClient(await monitor.listen(), grpc.credentials.createInsecure());
    const cancelled = new Promise<void>((resolve) => {
      deployment.onCancel = resolve;
    });
    try {
      const ended = program(client);
      // After a failure, the program gets no reply.
      ended.catch(() => {});
      await Promise.race([ended, cancelled]);
      await deployment.finish(!deployment.isCanceled);
      return deployment.outcome;
    } finally {
      client.close();
      monitor.close();
    }
  }
}
