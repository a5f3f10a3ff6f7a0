import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { didYouMean } from "../../provider/api/text";
import { Emulator, findPulumiCli } from "../testing";
import { command, EXIT, shellWord, UsageError } from "./command";
import { writeState } from "./emulatorState";

/** The examples of this package, which refers to itself by its name. */
const EXAMPLES = join(dirname(require.resolve("pulumi-endpoints/package.json")), "examples");

const HELP = `Makes a project from an example of the package, and prints the commands that deploy it.

Usage: npx pulumi-endpoints new [example] [folder]

  example    quickstart, or another one; without arguments, the command lists all
  folder     a new or empty one, which also names the project (default: the example's name)
  --help     this text

If ENDPOINTS_API_KEY is not set, the project gets an emulator of the service. It keeps its endpoints between starts.`;

/** `npx pulumi-endpoints new`: copies an example into a project of its own. It overwrites nothing. */
export const newCommand = command({
  name: "new",
  help: HELP,
  options: {},
  takesFiles: true,

  async run(_values, { stdout, log }, [name, folder = name, ...more]) {
    if (more.length > 0) throw new UsageError("give an example and a folder, and nothing else");
    if (name === undefined || folder === undefined) {
      stdout.write(`Usage: npx pulumi-endpoints new <example> [folder]\n\n${list()}`);
      return EXIT.done;
    }
    const example = examples().find((one) => one.name === name);
    if (!example) {
      refuseRecipe(name);
      log(`pulumi-endpoints new: ${unknown(name)}\n\n${list()}`);
      return EXIT.usage;
    }
    const project = emptyFolder(folder);
    const hasEmulator = isDeployed(example) && !process.env["ENDPOINTS_API_KEY"];
    write(example, project, hasEmulator);
    const emulator = hasEmulator ? await prepareEmulator(example, project) : undefined;
    const found = await findPulumiCli(undefined, example.language);
    const texts = [
      `Created ${join(folder, example.program)}: ${example.about}`,
      ...(found ? [] : ["The commands need the Pulumi CLI: https://www.pulumi.com/docs/install"]),
      ...steps(example, project, emulator).map(({ text, commands }) =>
        [text, "", ...commands.map((line) => `  ${line}`)].join("\n"),
      ),
    ];
    stdout.write(`${texts.join("\n\n")}\n`);
    return EXIT.done;
  },
});

interface Example {
  name: string;
  folder: string;
  /** One sentence. */
  about: string;
  language: string;
  /** The file to begin with. */
  program: string;
}

const PROGRAMS: Record<string, string> = { nodejs: "index.ts", python: "__main__.py", go: "main.go" };

const describedSchema = z.object({
  description: z.string(),
  runtime: z.union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)]),
});

/** The examples that are projects. The template is for `pulumi new`, and recipes are for existing repositories. */
function examples(): Example[] {
  return readdirSync(EXAMPLES)
    .filter((name) => name !== "template" && existsSync(join(EXAMPLES, name, "package.json")))
    .map((name) => {
      const folder = join(EXAMPLES, name);
      const files = ["Pulumi.yaml", "PulumiPolicy.yaml"].map((file) => join(folder, file));
      const file = files.find(existsSync) ?? "";
      const { description, runtime } = describedSchema.parse(parse(readFileSync(file, "utf8")));
      const program = PROGRAMS[runtime] ?? basename(file);
      return { name, folder, about: description, language: runtime, program };
    });
}

/** A policy pack is run with other programs. */
const isDeployed = ({ folder }: Example) => existsSync(join(folder, "Pulumi.yaml"));

function list(): string {
  const lines = examples().map(({ name, about }) => `  ${name.padEnd(14)}${about}\n`);
  return `${lines.join("")}\nRecipes for pipelines are in ${join(EXAMPLES, "gitops")}\n`;
}

function unknown(name: string): string {
  const names = examples().map((one) => one.name);
  return `there is no example ${name}${didYouMean(name, names)}`;
}

/** @throws UsageError if the name is that of a recipe. */
function refuseRecipe(name: string): void {
  const recipe = join(EXAMPLES, "gitops", basename(name));
  if (existsSync(join(recipe, "README.md")))
    throw new UsageError(
      `${name} is a recipe for a repository that already has a program: ${join(recipe, "README.md")} says what to copy where`,
    );
}

/** @throws UsageError if the folder has something in it, apart from a repository without files. */
function emptyFolder(folder: string): string {
  const path = resolve(folder);
  if (!existsSync(path)) return path;
  if (!statSync(path).isDirectory()) throw new UsageError(`${folder} is a file`);
  const [file] = readdirSync(path).filter((file) => file !== ".git");
  if (file !== undefined)
    throw new UsageError(`the folder ${folder} is not empty (${file}): name a new or an empty folder`);
  return path;
}

/** A name that both Pulumi and npm accept. */
function projectName(project: string, example: string): string {
  const name = basename(project)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, "")
    .slice(0, 100);
  // npm would take a project with the package's name for the package.
  return name === "" || name === "pulumi-endpoints" ? example : name;
}

const GENERATED = ["node_modules", "bin", "sdks", "venv", "__pycache__", ".pulumi"];

/** Other languages name the plugin as a package already. */
const PLUGIN = `
# For \`pulumi import\`. The dynamic provider stays the default.
plugins:
  providers:
    - name: endpoints
      path: node_modules/pulumi-endpoints/provider/plugin
`;

const packageSchema = z.looseObject({ scripts: z.record(z.string(), z.string()).optional() });

function write(example: Example, project: string, hasEmulator: boolean): void {
  const name = projectName(project, example.name);
  const contents = new Map(
    filesOf(example.folder).map((file) => [file, readFileSync(join(example.folder, file), "utf8")]),
  );
  for (const [file, text] of contents) {
    if (file === "Pulumi.yaml") {
      const named = text.replace(/^name: .*$/m, `name: ${yamlWord(name)}`);
      contents.set(file, /^(plugins|packages):/m.test(named) ? named : named.trimEnd() + PLUGIN);
    }
    // The settings of a stack are under the name of the project.
    else if (/^Pulumi\..+\.yaml$/.test(file))
      contents.set(file, text.replaceAll(new RegExp(`^( +)${example.name}:`, "gm"), `$1${name}:`));
  }
  const { scripts, ...manifest } = packageSchema.parse(JSON.parse(contents.get("package.json") ?? "{}"));
  const emulator = hasEmulator ? { emulator: "pulumi-endpoints emulator --state .endpoints.json" } : {};
  const all = { ...scripts, ...emulator };
  const scripted = { name, private: true, ...(Object.keys(all).length > 0 && { scripts: all }) };
  contents.set("package.json", `${JSON.stringify({ ...scripted, ...manifest, name }, null, 2)}\n`);
  if (example.program.endsWith(".ts") && !contents.has("tsconfig.json"))
    contents.set("tsconfig.json", readFileSync(join(EXAMPLES, "template", "tsconfig.json"), "utf8"));
  contents.set(".gitignore", [...GENERATED.map((folder) => `${folder}/`), ".endpoints.json*", ""].join("\n"));
  for (const [file, text] of contents) {
    mkdirSync(dirname(join(project, file)), { recursive: true });
    writeFileSync(join(project, file), text, { flag: "wx" });
  }
}

const yamlWord = (text: string) => stringify(text).trim();

/** The paths of an example's files, without what a run in a clone has left there. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (file) =>
      !file.split(sep).some((part) => GENERATED.includes(part)) && statSync(join(folder, file)).isFile(),
  );
}

interface Account {
  baseUrl: string;
  apiKey: string;
}

/** Chooses the emulator's port and key now, so that the printed commands can name them. */
async function prepareEmulator({ name }: Example, project: string): Promise<Account> {
  const emulator = await Emulator.start();
  if (name === "lookup") emulator.seed({ type: "ephemeral", url: "https://shop.internal" });
  writeState(join(project, ".endpoints.json"), emulator);
  await emulator.close();
  return emulator;
}

/** A shell replaces it by a new secret. */
const OWN_SECRET = '"$(openssl rand -hex 20)"';

/** What a stack of an example needs besides its account, as `pulumi config set` takes it. Pulumi asks for values that are not known. */
const settings = (emulator?: Account): Record<string, Record<string, string | undefined>> => ({
  accounts: { "--secret partnerApiKey": emulator?.apiKey },
  brex: { "--secret brexToken": undefined },
  calendly: { "--secret signingKey": OWN_SECRET },
  go: { "--secret githubSecret": OWN_SECRET },
  python: { "--secret stripeSecret": emulator && "whsec_trial" },
  yaml: {
    partnerUrl: emulator?.baseUrl,
    "--secret partnerKey": emulator?.apiKey,
    "--secret webhookSecret": OWN_SECRET,
  },
});

interface Step {
  text: string;
  commands: string[];
}

/** What to do until the example is deployed. */
function steps(example: Example, project: string, emulator: Account | undefined): Step[] {
  const path = relative("", project);
  const enter = path === "" ? [] : [`cd ${shellWord(path)}`];
  const isTested = existsSync(join(example.folder, "policy.test.ts"));
  const install = isTested
    ? { text: "Install it, and run its tests.", commands: [...enter, "npm install", "npm test"] }
    : { text: "Install it.", commands: [...enter, "npm install"] };
  if (!isDeployed(example)) {
    const commands = [`pulumi preview --policy-pack ${shellWord(project)}`];
    return [install, { text: "Run it with a program, in the program's folder.", commands }];
  }
  const values = Object.entries(settings(emulator)[example.name] ?? {});
  // A question would take the next pasted line for its answer.
  const isAsked = values.some(([, value]) => value === undefined);
  const paste = isAsked ? " Run these one by one, because Pulumi asks for a value." : "";
  const needsSdk = ["go", "python"].includes(example.language);
  // The example tenants creates its stacks itself.
  const [stack, up] =
    example.name === "tenants" ? [[], "npm start -- up"] : [["pulumi stack init dev"], "pulumi up"];
  const commands = [
    ...(needsSdk ? ["pulumi install"] : []),
    ...stack,
    ...values.map(([key, value]) => `pulumi config set ${key}${value === undefined ? "" : ` ${value}`}`),
    up,
  ];
  if (!emulator) {
    const isSet = Boolean(process.env["ENDPOINTS_BASE_URL"]);
    const service = isSet ? [] : ["export ENDPOINTS_BASE_URL=https://api.ngrok.com"];
    const text = `Give the endpoints in ${example.program} URLs of your account, and deploy them.${paste}`;
    return [install, { text, commands: [...service, ...commands] }];
  }
  const exports = [
    "export PULUMI_BACKEND_URL=file://. PULUMI_CONFIG_PASSPHRASE=trial",
    `export ENDPOINTS_BASE_URL=${emulator.baseUrl} ENDPOINTS_API_KEY=${shellWord(emulator.apiKey)}`,
  ];
  return [
    install,
    {
      text: "In another terminal, start an emulator of the service. It keeps its endpoints in .endpoints.json.",
      commands: [`cd ${shellWord(project)}`, "npm run emulator"],
    },
    {
      text: `Then deploy, with Pulumi's state in the project's folder.${paste}`,
      commands: [...exports, ...commands],
    },
  ];
}
