import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import { z } from "zod";
import { Emulator, findPulumiCli } from "../../sdk/testing";
import { temporaryFolder } from "../folders";
import { machine, recipes } from "./recipeMachine";

const root = join(import.meta.dirname, "../..");
const folder = join(recipes, "kubernetes-operator");
const objects = readdirSync(folder)
  .filter((file) => file.endsWith(".yaml"))
  .flatMap((file) => parseAllDocuments(readFileSync(join(folder, file), "utf8")))
  .map((document) => z.looseObject({ kind: z.string() }).parse(document.toJS()));
const ofKind = (kind: string) => objects.find((object) => object.kind === kind);

const program = z
  .object({
    metadata: z.object({ name: z.string() }),
    program: z.looseObject({
      packages: z.object({ endpoints: z.string() }),
    }),
  })
  .parse(ofKind("Program"));
const secret = z.object({ secret: z.object({ name: z.string() }) });
const { spec: stack } = z
  .object({
    spec: z.looseObject({
      stack: z.string(),
      programRef: z.object({ name: z.string() }),
      destroyOnFinalize: z.boolean(),
      envRefs: z.looseObject({ ENDPOINTS_API_KEY: secret }),
    }),
  })
  .parse(ofKind("Stack"));
const drift = z
  .object({
    spec: z.object({
      schedule: z.string(),
      timeZone: z.string(),
      concurrencyPolicy: z.string(),
      jobTemplate: z.object({
        spec: z.object({
          backoffLimit: z.number(),
          template: z.object({
            spec: z.object({
              containers: z.tuple([
                z.object({ command: z.array(z.string()), env: z.array(z.looseObject({ name: z.string() })) }),
              ]),
            }),
          }),
        }),
      }),
    }),
  })
  .parse(ofKind("CronJob")).spec;
const { "Pulumi.yaml": project } = z
  .object({ data: z.object({ "Pulumi.yaml": z.string() }) })
  .parse(ofKind("ConfigMap")).data;
const [container] = drift.jobTemplate.spec.template.spec.containers;

describe("the objects for the Kubernetes operator", () => {
  test("name the same program and the same stack", () => {
    expect(stack.programRef.name).toBe(program.metadata.name);
    expect(parse(project)).toEqual({ name: program.metadata.name, runtime: "yaml" });
    expect(container.command).toEqual(["pulumi-endpoints", "drift", "--stack", stack.stack]);
  });

  test("give the stack the key with write access, and the drift check the other key", () => {
    expect(stack.envRefs.ENDPOINTS_API_KEY.secret.name).toBe("endpoints-write");
    const key = container.env.find(({ name }) => name === "ENDPOINTS_API_KEY");
    expect(key?.["valueFrom"]).toEqual({ secretKeyRef: { name: "endpoints-read", key: "apiKey" } });
    expect(ofKind("Secret")).toBeUndefined();
  });

  test("keep the endpoints if the stack's object is deleted, and run one drift check each night", () => {
    expect(stack.destroyOnFinalize).toBe(false);
    expect(drift.concurrencyPolicy).toBe("Forbid");
    // At night, and not at minute 0, at which many other jobs start.
    const [minute, hour, ...days] = drift.schedule.split(" ");
    expect([minute, hour]).toEqual([expect.stringMatching(/^[1-9]\d?$/), expect.stringMatching(/^[1-5]$/)]);
    expect(days).toEqual(["*", "*", "*"]);
    expect(drift.timeZone).toBe("Etc/UTC");
    expect(drift.jobTemplate.spec.backoffLimit).toBe(0);
  });

  test("name the plugin's folder in the image", () => {
    const dockerfile = readFileSync(join(folder, "Dockerfile"), "utf8");
    const prefix = /NPM_CONFIG_PREFIX=(\S+)/.exec(dockerfile)?.[1];
    expect(program.program.packages.endpoints).toBe(
      `${prefix}/lib/node_modules/pulumi-endpoints/provider/plugin`,
    );
    expect(readdirSync(join(root, "provider/plugin"))).toContain("PulumiPlugin.yaml");
  });
});

const pulumi = dirname((await findPulumiCli()) ?? "/nowhere");
const hasYaml = pulumi !== "/nowhere" && readdirSync(pulumi).includes("pulumi-language-yaml");

describe.skipIf(!hasYaml)("on the Pulumi CLI with its language host for YAML", () => {
  test("the program deploys an endpoint, and the drift check finds drift and a failed repair", async () => {
    const emulator = await Emulator.start();
    onTestFinished(() => emulator.close());
    const workspace = machine(temporaryFolder());
    const pod = machine(temporaryFolder());
    for (const runner of [workspace, pod]) {
      Object.assign(runner.env, {
        PATH: [join(root, "provider/plugin"), runner.env["PATH"]].join(delimiter),
        PULUMI_BACKEND_URL: `file://${workspace.scratch}`,
        PULUMI_CONFIG_PASSPHRASE: "only for tests",
        ENDPOINTS_BASE_URL: emulator.baseUrl,
        ENDPOINTS_API_KEY: emulator.apiKey,
      });
    }
    const succeed = async (...command: string[]) =>
      expect(await workspace.run(command), command.join(" ")).toMatchObject({ code: 0 });

    // The operator writes the Program into a project file with the Program's name.
    const packages = { endpoints: join(root, "provider/plugin") };
    const files = { name: program.metadata.name, runtime: "yaml", ...program.program, packages };
    writeFileSync(join(workspace.folder, "Pulumi.yaml"), stringify(files));
    await succeed("pulumi", "stack", "init", stack.stack, "--non-interactive");
    await succeed("pulumi", "install");
    await succeed("pulumi", "up", "--yes", "--skip-preview", "--non-interactive");
    expect(emulator.endpoints).toMatchObject([{ url: "https://shop.example.com" }]);

    // The pod of the drift check has only the project's name, and no file of the workspace.
    writeFileSync(join(pod.folder, "Pulumi.yaml"), project);
    const check = [join(pod.folder, "node_modules/.bin/pulumi-endpoints"), ...container.command.slice(1)];
    expect(await pod.run(check)).toMatchObject({ code: 0 });
    emulator.edit(emulator.endpoints[0]?.id ?? "", { description: "edited by hand" });
    expect(await pod.run(check)).toMatchObject({ code: 7 });

    // A repair that fails copies the drift into the state, so that the check finds no difference.
    emulator.intercept("update", { status: 403, body: "" });
    const repair = ["pulumi", "up", "--refresh", "--yes", "--skip-preview", "--non-interactive"];
    expect((await workspace.run(repair)).code).not.toBe(0);
    expect(await pod.run(check)).toMatchObject({ code: 8 });
    await succeed("pulumi", "up", "--yes", "--skip-preview", "--non-interactive");
    expect(await pod.run(check)).toMatchObject({ code: 0 });
  });
});
