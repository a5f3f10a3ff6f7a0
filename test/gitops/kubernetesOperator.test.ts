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
      resources: z.record(
        z.string(),
        z.object({ type: z.string(), properties: z.record(z.string(), z.unknown()) }),
      ),
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
  test("describe endpoints that the package's schema knows", () => {
    const resource = z.object({
      inputProperties: z.record(z.string(), z.unknown()),
      requiredInputs: z.array(z.string()),
    });
    const schema = z
      .object({ resources: z.record(z.string(), resource) })
      .parse(JSON.parse(readFileSync(join(root, "provider/plugin/schema.json"), "utf8")));
    for (const { type, properties } of Object.values(program.program.resources)) {
      const { inputProperties, requiredInputs } = resource.parse(schema.resources[type]);
      expect(Object.keys(inputProperties)).toEqual(expect.arrayContaining(Object.keys(properties)));
      expect(Object.keys(properties)).toEqual(expect.arrayContaining(requiredInputs));
    }
  });

  test("are about one program and one stack, of which the drift check needs the names alone", () => {
    expect(stack.programRef.name).toBe(program.metadata.name);
    expect(parse(project)).toEqual({ name: program.metadata.name, runtime: "yaml" });
    expect(container.command).toEqual(["pulumi-endpoints", "drift", "--stack", stack.stack]);
  });

  test("give the stack the key that may write, and the drift check another", () => {
    expect(stack.envRefs.ENDPOINTS_API_KEY.secret.name).toBe("endpoints-write");
    const key = container.env.find(({ name }) => name === "ENDPOINTS_API_KEY");
    expect(key?.["valueFrom"]).toEqual({ secretKeyRef: { name: "endpoints-read", key: "apiKey" } });
    expect(ofKind("Secret")).toBeUndefined();
  });

  test("delete no endpoint with the stack's object, and look for drift once at a time and once a night", () => {
    expect(stack.destroyOnFinalize).toBe(false);
    expect(drift.concurrencyPolicy).toBe("Forbid");
    // A minute and an hour, every day: in the small hours, and not at a minute at which everybody else begins.
    const [minute, hour, ...days] = drift.schedule.split(" ");
    expect([minute, hour]).toEqual([expect.stringMatching(/^[1-9]\d?$/), expect.stringMatching(/^[1-5]$/)]);
    expect(days).toEqual(["*", "*", "*"]);
    expect(drift.timeZone).toBe("Etc/UTC");
    expect(drift.jobTemplate.spec.backoffLimit).toBe(0);
  });

  test("find the plugin where the image has it", () => {
    const dockerfile = readFileSync(join(folder, "Dockerfile"), "utf8");
    const prefix = /NPM_CONFIG_PREFIX=(\S+)/.exec(dockerfile)?.[1];
    expect(program.program.packages.endpoints).toBe(
      `${prefix}/lib/node_modules/pulumi-endpoints/provider/plugin`,
    );
    expect(readdirSync(join(root, "provider/plugin"))).toContain("PulumiPlugin.yaml");
  });
});

/** The folder of the Pulumi CLI, where the language host for YAML is beside it. */
const pulumi = dirname((await findPulumiCli()) ?? "/nowhere");
const hasYaml = pulumi !== "/nowhere" && readdirSync(pulumi).includes("pulumi-language-yaml");

describe.skipIf(!hasYaml)("the program on the Pulumi CLI with its language host for YAML", () => {
  test("is installed and deployed as the operator does it, and checked by its name for drift and for a last run that failed", async () => {
    const emulator = await Emulator.start();
    onTestFinished(() => emulator.close());
    const workspace = machine(temporaryFolder());
    const pod = machine(temporaryFolder());
    for (const on of [workspace, pod]) {
      Object.assign(on.env, {
        PATH: [join(root, "provider/plugin"), on.env["PATH"]].join(delimiter),
        PULUMI_BACKEND_URL: `file://${workspace.scratch}`,
        PULUMI_CONFIG_PASSPHRASE: "only for tests",
        ENDPOINTS_BASE_URL: emulator.baseUrl,
        ENDPOINTS_API_KEY: emulator.apiKey,
      });
    }
    const must = async (...command: string[]) =>
      expect(await workspace.run(command), command.join(" ")).toMatchObject({ code: 0 });

    // The operator writes a project of the Program's name, with the Program as it is.
    const packages = { endpoints: join(root, "provider/plugin") };
    const files = { name: program.metadata.name, runtime: "yaml", ...program.program, packages };
    writeFileSync(join(workspace.folder, "Pulumi.yaml"), stringify(files));
    await must("pulumi", "stack", "init", stack.stack, "--non-interactive");
    await must("pulumi", "install");
    await must("pulumi", "up", "--yes", "--skip-preview", "--non-interactive");
    expect(emulator.endpoints).toMatchObject([{ url: "https://shop.example.com" }]);

    // The drift check's pod has the project's name, and nothing of the workspace.
    writeFileSync(join(pod.folder, "Pulumi.yaml"), project);
    const look = [join(pod.folder, "node_modules/.bin/pulumi-endpoints"), ...container.command.slice(1)];
    expect(await pod.run(look)).toMatchObject({ code: 0 });
    emulator.edit(emulator.endpoints[0]?.id ?? "", { description: "edited by hand" });
    expect(await pod.run(look)).toMatchObject({ code: 7 });

    // A repair that fails has copied the drift into the state, where the check cannot see it.
    emulator.intercept("update", { status: 403, body: "" });
    const repair = ["pulumi", "up", "--refresh", "--yes", "--skip-preview", "--non-interactive"];
    expect((await workspace.run(repair)).code).not.toBe(0);
    expect(await pod.run(look)).toMatchObject({ code: 8 });
    await must("pulumi", "up", "--yes", "--skip-preview", "--non-interactive");
    expect(await pod.run(look)).toMatchObject({ code: 0 });
  });
});
