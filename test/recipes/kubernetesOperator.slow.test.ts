import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import { z } from "zod";
import { findPulumiCli } from "../../sdk/testing";
import { programFolder, temporaryFolder } from "../folders";
import { commandFile, Machine, recipes, withService } from "./machine";

const folder = join(recipes, "kubernetes-operator");
const PLUGIN = join(import.meta.dirname, "../../provider/plugin");
const documents = readdirSync(folder)
  .filter((file) => file.endsWith(".yaml"))
  .flatMap((file) => parseAllDocuments(readFileSync(join(folder, file), "utf8")))
  .map((document): unknown => document.toJS());
const container = z.looseObject({ command: z.array(z.string()) });
const { Program, Stack, ConfigMap, CronJob, ...others } = z
  .looseObject({
    Program: z.looseObject({ program: z.looseObject({ packages: z.object({ endpoints: z.string() }) }) }),
    Stack: z.looseObject({}),
    ConfigMap: z.object({ data: z.object({ "Pulumi.yaml": z.string() }) }),
    CronJob: z.object({
      spec: z.looseObject({
        jobTemplate: z.object({
          spec: z.looseObject({
            template: z.object({ spec: z.object({ containers: z.tuple([container]) }) }),
          }),
        }),
      }),
    }),
  })
  .parse(Object.fromEntries(documents.map((object) => [Object(object).kind, object])));
const project = ConfigMap.data["Pulumi.yaml"];
const job = CronJob.spec.jobTemplate.spec;
const [check] = job.template.spec.containers;

test("the objects for the Kubernetes operator name the same program, stack, keys and plugin", () => {
  expect(Object.keys(others).sort()).toEqual(["ClusterRoleBinding", "ServiceAccount"]);
  expect(Program).toMatchObject({ metadata: { name: "shop" } });
  expect(parse(project)).toEqual({ name: "shop", runtime: "yaml" });
  expect(Stack).toMatchObject({
    spec: {
      programRef: { name: "shop" },
      stack: "prod",
      envRefs: { ENDPOINTS_API_KEY: { type: "Secret", secret: { name: "endpoints-write", key: "apiKey" } } },
      // A deleted object keeps the endpoints, and a deployment undoes no change by hand in silence.
      ...{ destroyOnFinalize: false, refresh: false, retryOnUpdateConflict: false },
    },
  });
  expect(check).toMatchObject({
    command: ["pulumi-endpoints", "drift", "--stack", "prod"],
    env: expect.arrayContaining([
      { name: "ENDPOINTS_API_KEY", valueFrom: { secretKeyRef: { name: "endpoints-read", key: "apiKey" } } },
    ]),
  });
  // At night, and not at minute 0, at which many other jobs start.
  expect(CronJob.spec).toMatchObject({
    schedule: expect.stringMatching(/^[1-9]\d? [1-5] \* \* \*$/),
    ...{ timeZone: "Etc/UTC", concurrencyPolicy: "Forbid", jobTemplate: { spec: { backoffLimit: 0 } } },
  });
  const [, prefix] = /NPM_CONFIG_PREFIX=(\S+)/.exec(readFileSync(join(folder, "Dockerfile"), "utf8")) ?? [];
  const installed = `${prefix}/lib/node_modules/pulumi-endpoints/provider/plugin`;
  expect(Program.program.packages.endpoints).toBe(installed);
});

const hasYaml = (await findPulumiCli()) && (await findPulumiCli(undefined, "yaml"));

test.skipIf(!hasYaml)(
  "the program deploys an endpoint with the Pulumi CLI, and the check finds drift and a failed repair",
  async () => {
    const workspace = new Machine(programFolder());
    // The operator writes the Program into a project file with the Program's name.
    const program = { name: "shop", runtime: "yaml", ...Program.program, packages: { endpoints: PLUGIN } };
    writeFileSync(join(workspace.folder, "Pulumi.yaml"), stringify(program));
    workspace.env["PATH"] = [PLUGIN, workspace.env["PATH"]].join(delimiter);
    const emulator = await withService(workspace, ".");
    workspace.overrides["ENDPOINTS_API_KEY"] = emulator.apiKey;
    // The pod of the drift check has only the project's name, and no file of the workspace.
    const pod = new Machine(temporaryFolder());
    Object.assign(pod.overrides, workspace.overrides);
    writeFileSync(join(pod.folder, "Pulumi.yaml"), project);
    const up = async (...more: string[]) =>
      (
        await workspace.run([
          "pulumi",
          "up",
          "--stack",
          "prod",
          "--yes",
          "--skip-preview",
          "--non-interactive",
          ...more,
        ])
      ).code;
    const found = async () => (await pod.run(["node", commandFile, ...check.command.slice(1)])).code;

    expect(await workspace.run(["pulumi", "install"])).toMatchObject({ code: 0 });
    expect([await up(), await found()]).toEqual([0, 0]);
    expect(emulator.endpoints).toMatchObject([{ url: "https://shop.example.com" }]);
    emulator.edit(emulator.endpoints[0]?.id ?? "", { description: "edited by hand" });
    expect(await found()).toBe(7);
    // A repair that fails copies the drift into the state, so that the check finds no difference.
    emulator.intercept("update", { status: 403, body: "" });
    expect([await up("--refresh"), await found()]).toEqual([1, 8]);
    expect([await up(), await found()]).toEqual([0, 0]);
  },
);
