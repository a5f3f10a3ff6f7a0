import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { didYouMean, jsonOf } from "../../provider/data/index";
import { Emulator, findPulumiCli, type Seed } from "../testing";
import { command, EXIT, UsageError } from "./command";
import { writeState } from "./emulatorState";
import { writeText } from "./options";
import { columns, shellWord } from "./text";

/** The folder of this package, which refers to itself by its name. */
const PACKAGE_FOLDER = dirname(require.resolve("pulumi-endpoints/package.json"));
const EXAMPLES = join(PACKAGE_FOLDER, "examples");

/** `npx pulumi-endpoints new`: copies an example into a project of its own. It overwrites nothing. */
export const newCommand = command({
  name: "new",
  about: "Makes a project from an example of the package, and prints the commands that deploy it.",
  takes: "[EXAMPLE] [FOLDER]",
  options: {},
  notes: `EXAMPLE is quickstart, or another one; without arguments, the command lists all. FOLDER is new or empty, and also names the project (default: the example's name).
If ENDPOINTS_API_KEY is not set, the project gets an emulator of the service, on two free ports of 127.0.0.1: one for the API, which .endpoints.json keeps with the key and the endpoints, and one for requests to the endpoints, in the script emulator of package.json.`,

  async run(_values, { stdout, log }, [name, folder = name, more]) {
    if (more !== undefined) throw new UsageError(`there is an argument too many: ${more}`);
    const examples = allExamples();
    const rows = examples.map((one) => [one.name, one.about] as const);
    const list = `${columns(rows)}\n\nRecipes for pipelines are in ${join(EXAMPLES, "gitops")}\n`;
    if (name === undefined || folder === undefined) {
      stdout.write(`Usage: npx pulumi-endpoints new EXAMPLE [FOLDER]\n\n${list}`);
      return EXIT.done;
    }
    const example = examples.find((one) => one.name === name);
    if (!example) {
      log(list);
      const hint = didYouMean(
        name,
        examples.map((one) => one.name),
      );
      throw new UsageError(`there is no example ${name}${hint}`);
    }
    const project = emptyFolder(folder);
    const hasEmulator = example.isDeployed && !process.env["ENDPOINTS_API_KEY"];
    const emulator = hasEmulator ? await reserveEmulator(example) : undefined;
    write(example, project, emulator);
    const needsCli = "The commands need the Pulumi CLI: https://www.pulumi.com/docs/install";
    const texts = [
      `Created ${join(folder, example.program)}: ${example.about}`,
      ...((await findPulumiCli()) ? [] : [needsCli]),
      ...steps(example, project, emulator).map(([text, commands]) =>
        [text, "", ...commands.map((line) => `  ${line}`)].join("\n"),
      ),
      ...(example.worksWithBothProviders ? [PROVIDER_HINT] : []),
    ];
    stdout.write(`${texts.join("\n\n")}\n`);
    return EXIT.done;
  },
});

/** The key `new` in an example's `package.json`, which only this command reads. */
interface ExampleSetup {
  /** The commands that deploy it, once it is installed and the account is in the environment. */
  deploy?: string[];
  /** The endpoints that the emulator has at the start. */
  seed?: Seed[];
  /** The host of an endpoint that answers by itself. */
  host?: string;
}

interface Example {
  name: string;
  folder: string;
  /** One sentence. */
  about: string;
  /** The file to begin with. */
  program: string;
  /** False for a policy pack, which runs with other programs. */
  isDeployed: boolean;
  /** Whether the dynamic provider and the plugin can serve it. The settings of other examples name the plugin. */
  worksWithBothProviders: boolean;
  manifest: {
    scripts?: Record<string, string>;
    dependencies?: Record<string, string>;
    [key: string]: unknown;
  };
  setup: ExampleSetup;
}

const PROGRAMS = ["index.ts", "__main__.py", "main.go", "Pulumi.yaml"];

/** The examples that are projects. Recipes are for existing repositories. */
function allExamples(): Example[] {
  const names = readdirSync(EXAMPLES).filter((name) => existsSync(join(EXAMPLES, name, "package.json")));
  return names.map((name) => {
    const folder = join(EXAMPLES, name);
    const isDeployed = existsSync(join(folder, "Pulumi.yaml"));
    const settings = readFileSync(join(folder, isDeployed ? "Pulumi.yaml" : "PulumiPolicy.yaml"), "utf8");
    const [, about = ""] = /^description: (.*)$/m.exec(settings) ?? [];
    const worksWithBothProviders = isDeployed && !/^(plugins|packages):/m.test(settings);
    const program = PROGRAMS.find((file) => existsSync(join(folder, file))) ?? "";
    const { new: setup = {}, ...manifest } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return { name, folder, about, program, isDeployed, worksWithBothProviders, manifest, setup };
  });
}

/** @throws UsageError if the folder has something in it, apart from a repository without files. */
function emptyFolder(folder: string): string {
  const path = resolve(folder);
  if (!existsSync(path)) return path;
  if (!statSync(path).isDirectory()) throw new UsageError(`${folder} is a file`);
  const file = readdirSync(path).find((name) => name !== ".git");
  if (file === undefined) return path;
  throw new UsageError(`the folder ${folder} is not empty (${file}): name a new or an empty folder`);
}

/** A name that both Pulumi and npm accept. */
function projectName(project: string, example: string): string {
  const words = basename(project)
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  const name = words?.join("-").slice(0, 100) ?? example;
  // npm would take a project with the package's name for the package.
  return name === "pulumi-endpoints" ? example : name;
}

const GENERATED = ["node_modules", "bin", "sdks", "venv", "__pycache__", ".pulumi"];

const PLUGIN = `
# For \`pulumi import\`. The dynamic provider stays the default.
plugins:
  providers:
    - name: endpoints
      path: node_modules/pulumi-endpoints/provider/plugin
`;

const PROVIDER_HINT =
  "The dynamic provider serves the endpoints. The plugin's previews also show changed secrets, places in policies, and outputs that stay: pulumi config set endpoints:provider plugin";

function write(example: Example, project: string, emulator?: ReservedEmulator): void {
  const name = projectName(project, example.name);
  const contents = new Map(
    filesOf(example.folder).map((file) => [file, readFileSync(join(example.folder, file), "utf8")]),
  );
  for (const [file, text] of contents) {
    if (file === "Pulumi.yaml") {
      const named = text.replace(/^name: .*$/m, `name: ${JSON.stringify(name)}`);
      contents.set(file, example.worksWithBothProviders ? named.trimEnd() + PLUGIN : named);
    }
    // The settings of a stack are under the name of the project.
    else if (/^Pulumi\..+\.yaml$/.test(file))
      contents.set(file, text.replaceAll(new RegExp(`^( +)${example.name}:`, "gm"), `$1${name}:`));
  }
  const start = emulator && `pulumi-endpoints emulator --state .endpoints.json --serve ${emulator.serves}`;
  const { manifest } = example;
  const file = fileInstalled(PACKAGE_FOLDER, project);
  const all = {
    ...{ ...manifest, name, private: true },
    dependencies: { ...manifest.dependencies, ...(file !== undefined && { "pulumi-endpoints": file }) },
    scripts: { ...manifest.scripts, ...(start && { emulator: start }) },
  };
  contents.set("package.json", `${JSON.stringify(all, null, 2)}\n`);
  if (example.program.endsWith(".ts") && !contents.has("tsconfig.json"))
    contents.set("tsconfig.json", readFileSync(join(EXAMPLES, "tsconfig.json"), "utf8"));
  contents.set(".gitignore", [...GENERATED.map((folder) => `${folder}/`), ".endpoints.json*", ""].join("\n"));
  for (const [file, text] of contents) {
    mkdirSync(dirname(join(project, file)), { recursive: true });
    writeText(join(project, file), text, { isNew: true });
  }
  if (emulator) writeState(join(project, ".endpoints.json"), emulator.service);
}

/** Whether the command runs in a clone, whose package may be on no registry. */
const IS_CLONE = !PACKAGE_FOLDER.split(sep).includes("node_modules");

/**
 * The dependency of a new project on the file from which this package was installed, or which `npm pack` makes in a clone.
 * Undefined if it was installed from a registry.
 *
 * @param installed The package's folder.
 */
export function fileInstalled(installed: string, project: string): string | undefined {
  // The outermost `node_modules`, because pnpm keeps packages in folders below it.
  const [, user] = /^(.*?)[\\/]node_modules[\\/]/.exec(installed) ?? [];
  const asDependency = (file: string) => `file:${relative(project, file).replaceAll("\\", "/")}`;
  const manifestIn = (folder: string) => {
    const file = join(folder, "package.json");
    return Object(existsSync(file) ? jsonOf(readFileSync(file, "utf8")) : undefined);
  };
  if (user === undefined)
    return asDependency(join(installed, `pulumi-endpoints-${manifestIn(installed).version}.tgz`));
  const { dependencies, devDependencies } = manifestIn(user);
  const given: unknown = { ...devDependencies, ...dependencies }["pulumi-endpoints"];
  const isFile = typeof given === "string" && /^(file:|\.{0,2}\/)/.test(given);
  return isFile ? asDependency(resolve(user, given.replace(/^file:/, ""))) : undefined;
}

/** The paths of an example's files, without what a run in a clone has left there. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (file) =>
      !file.split(sep).some((part) => GENERATED.includes(part)) && statSync(join(folder, file)).isFile(),
  );
}

interface ReservedEmulator {
  /** The emulator, which is closed. */
  service: Emulator;
  /** The port on which the endpoints will answer. */
  serves: number;
}

/** Chooses the emulator's ports and key now, so that the printed commands can name them. */
async function reserveEmulator({ setup }: Example): Promise<ReservedEmulator> {
  const service = await Emulator.start();
  for (const endpoint of setup.seed ?? []) service.seed(endpoint);
  const serves = await service.serve();
  await service.close();
  return { service, serves };
}

type Step = [text: string, commands: string[]];

/** The steps until the example is deployed. A question of Pulumi would take the next pasted line for its answer. */
function steps(
  { setup, manifest, program, isDeployed }: Example,
  project: string,
  emulator?: ReservedEmulator,
): Step[] {
  const path = relative("", project);
  const enter = path === "" ? [] : [`cd ${shellWord(path)}`];
  const tests = manifest.scripts?.["test"] ? ["npm test"] : [];
  const file = fileInstalled(PACKAGE_FOLDER, project)?.replace("file:", "") ?? "";
  const pack =
    IS_CLONE && !existsSync(join(project, file))
      ? [`(cd ${shellWord(PACKAGE_FOLDER)} && npm pack --silent)`]
      : [];
  const install: Step = ["Install it.", [...pack, ...enter, "npm install", ...tests]];
  const deploy = setup.deploy ?? ["pulumi stack init dev", "pulumi up"];
  if (emulator) {
    const { baseUrl, apiKey } = emulator.service;
    const curl = `curl --connect-to ::127.0.0.1:${emulator.serves} http://${setup.host}`;
    return [
      install,
      [
        "In another terminal, start an emulator of the service, and keep it running. Its endpoints are in .endpoints.json.",
        [`cd ${shellWord(project)}`, "npm run emulator"],
      ],
      [
        "Then deploy, with Pulumi's state in the project's folder. Run these one by one, because Pulumi may ask for a value.",
        [
          "export PULUMI_BACKEND_URL=file://. PULUMI_CONFIG_PASSPHRASE=trial",
          `export ENDPOINTS_BASE_URL=${baseUrl} ENDPOINTS_API_KEY=${shellWord(apiKey)}`,
          ...deploy,
        ],
      ],
      ...(setup.host ? [["Send a request to the endpoint.", [curl]] satisfies Step] : []),
    ];
  }
  if (!isDeployed) return [install, ["Run it with a program.", deploy]];
  const baseUrl = process.env["ENDPOINTS_BASE_URL"];
  const service = baseUrl ? [] : ["export ENDPOINTS_BASE_URL=https://api.ngrok.com"];
  // An emulator accepts any host.
  const urls = /^http:/.test(baseUrl ?? "")
    ? `URLs that ${baseUrl} does not have yet`
    : "URLs of your account";
  const text = `Give the endpoints in ${program} ${urls}, and deploy them. Run these one by one, because Pulumi may ask for a value.`;
  return [install, [text, [...service, ...deploy]]];
}
