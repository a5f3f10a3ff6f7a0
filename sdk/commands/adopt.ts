import { lstatSync } from "node:fs";
import { oneLine, pathText } from "../../provider/data/index";
import { TYPES } from "../../provider/pulumi/typeTokens";
import type { Endpoint } from "../../provider/service/contract";
import { type Adoption, adoptionsOf, type Unadoptable, withAllFields } from "./adopt/adoptable";
import { type ConfigSecret, secretsOf } from "./adopt/configSecrets";
import { namesOf } from "./adopt/names";
import { programOf } from "./adopt/program";
import { logLeftOut, selectEndpoints, selectionOptions, type TargetStack } from "./adopt/selection";
import { command, EXIT, type LogLine, UsageError } from "./command";
import { outputFile, writeText } from "./options";
import { count, shellWord } from "./text";
import { setSecret } from "./userProject";

/** `npx pulumi-endpoints adopt`: writes the program, or the file for `pulumi import`, for existing endpoints. */
export const adoptCommand = command({
  name: "adopt",
  about:
    "Writes the program that adopts the account's cloud endpoints as they are, or the file with which `pulumi import` imports them: the first `pulumi up` changes nothing.",
  options: {
    format: {
      value: "FORMAT",
      help: "program: TypeScript, for either provider. import: JSON for `pulumi import --file`, which needs the plugin in the project (docs/plugin.md)",
      parse(text: string) {
        if (text === "program" || text === "import") return text;
        throw new UsageError("takes program or import");
      },
      default: "program",
    },
    ...selectionOptions,
    out: { value: "F", help: "the file to write (default: stdout)", parse: outputFile },
    force: { help: "overwrite that file", needs: ["out"] },
  },
  notes: `Without --stack the account is that of ENDPOINTS_API_KEY and ENDPOINTS_BASE_URL. Secrets found in policies and metadata become secrets of the configuration; neither the program nor the log shows them. With --stack, the command sets them in that stack's configuration. Without --stack, it lists the commands that set them. See docs/adoption.md.
Exit codes: 0 done, 1 failed, 2 invalid arguments.`,

  async run({ format, out, force, ...wanted }, { stdout, log }) {
    // A link counts, too, even if the file that it names does not exist.
    if (out !== undefined && !force && lstatSync(out, { throwIfNoEntry: false }))
      throw new UsageError(`${out} exists; give --force to overwrite it, or another --out`);

    const selected = await selectEndpoints(wanted, log);
    const { account, endpoints, target, terraform, managed } = selected;
    const lives = await withAllFields(account, endpoints, log);
    const { adoptions, unadoptable } = adoptionsOf(lives, format === "import");
    for (const { live, reason } of unadoptable) logLeftOut(log, live, reason);
    const taken = new Set(managed.map(({ name }) => name));
    const names = namesOf(
      adoptions.map(({ live }) => live),
      (name) => taken.has(name),
      terraform?.addressOf,
    );
    for (const { live, keptByService } of adoptions)
      for (const what of keptByService)
        log(oneLine(`Left to the service: ${what}, of ${shown(live, names)}`));

    const all = { adoptions, unadoptable, names, target };
    // An empty file would only stop the next run, which never overwrites one.
    if (adoptions.length === 0) log("Selected: 0 endpoints, so nothing was written");
    else {
      const { text, secrets, messages } = format === "import" ? importResult(all, out) : programResult(all);
      // The file is written before the secrets are set, because nothing needs them without the file.
      if (out === undefined) stdout.write(text);
      else writeText(out, text, { isNew: !force });
      log(
        `Selected: ${count(adoptions.length, "endpoint")}${out === undefined ? "" : `, written to ${out}`}`,
      );
      if (target) await setSecrets(target, secrets, out, log);
      for (const message of messages) log(message);
    }
    terraform?.logForget(new Set([...names.keys(), ...managed.map(({ id }) => id)]), log);
    return EXIT.done;
  },
});

/** The names of the resources, by the ids of their endpoints. */
type Names = ReadonlyMap<string, string>;

/** An endpoint in messages. */
const shown = ({ id, url }: Pick<Endpoint, "id" | "url">, names: Names): string =>
  `'${names.get(id)}' (${id}, ${url})`;

interface Adopted {
  adoptions: readonly Adoption[];
  unadoptable: readonly Unadoptable[];
  names: Names;
  target: TargetStack | undefined;
}

interface Result {
  text: string;
  /** The secrets that the text reads from the configuration. */
  secrets: readonly ConfigSecret[];
  /** What the user does next. */
  messages: string[];
}

/** The program. Without a target stack, the messages say how to set its secrets. */
function programResult(all: Adopted): Result {
  const { adoptions, unadoptable, names, target } = all;
  const isFree = (name: string, value: string) => {
    const current = target?.config(`${target.project.name}:${name}`);
    return current === undefined || current === value;
  };
  const secrets = secretsOf(adoptions, names, isFree);
  const next = `Next: import this file in the program, then run pulumi preview${stackOption(target)}, which shows “adopts … as it is” for each endpoint`;
  return {
    text: programOf(adoptions, names, secrets, unadoptable),
    secrets,
    messages: [...(target ? [] : secretCommands(secrets, names)), next],
  };
}

/** Sets the secrets in the target stack. After a failure, the log names the secrets that are not set. */
async function setSecrets(
  { project, stack }: TargetStack,
  secrets: readonly ConfigSecret[],
  out: string | undefined,
  log: LogLine,
): Promise<void> {
  if (secrets.length === 0) return;
  const list = (some: readonly ConfigSecret[]) =>
    `${count(some.length, "secret")} of the stack ${stack}: ${some.map(({ name }) => name).join(", ")}`;
  for (const [index, { name, value }] of secrets.entries())
    await setSecret(project, stack, name, value).catch((error: unknown) => {
      const [left, them] = [secrets.slice(index), secrets.length - index === 1 ? "it" : "them"];
      const again = `run the command again${out === undefined ? "" : ", with --force"}, which sets ${them}`;
      log(`Not set: ${list(left)}. The program is written: ${again}`);
      throw error;
    });
  log(`Set: ${list(secrets)}`);
}

/** The file for `pulumi import`. */
function importResult({ adoptions, names, target }: Adopted, out = "FILE"): Result {
  const resources = [...names].map(([id, name]) => ({ type: TYPES.plugin, name, id }));
  const secrets = secretsOf(adoptions, names, () => true);
  const number = new Set(secrets.flatMap(({ places }) => places.map(({ id }) => id))).size;
  const warning = `${count(number, "endpoint")} with secrets, which the code that pulumi import prints shows in plain text: --generate-code=false prints no code, and --format program writes code without secrets`;
  const next = `Next: pulumi import --file ${shellWord(out)}${stackOption(target)}`;
  const option =
    "For YAML, Python and Go, add the option deleteBeforeReplace to the code that it prints (docs/plugin.md)";
  const text = `${JSON.stringify({ resources }, undefined, 2)}\n`;
  return { text, secrets: [], messages: [...(number > 0 ? [warning] : []), next, option] };
}

const stackOption = (target: TargetStack | undefined) => (target ? ` --stack ${target.stack}` : "");

/** One place is enough to find the value; a few more show its use. */
const PLACES_SHOWN = 3;

function secretCommands(secrets: readonly ConfigSecret[], names: Names): string[] {
  if (secrets.length === 0) return [];
  return [
    "Set these secrets in the stack's configuration. Each value is the whole text at the places below its command. The commands ask for the value, or read it from a pipe:",
    ...secrets.flatMap(({ name, value, places }) => [
      `  pulumi config set --secret ${name}`,
      ...places
        .slice(0, PLACES_SHOWN)
        .map((place) => `      ${oneLine(`${pathText(place.path)} of ${shown(place, names)}`)}`),
      ...(places.length > PLACES_SHOWN
        ? [`      and in ${count(places.length - PLACES_SHOWN, "other place")}`]
        : []),
      ...(value.endsWith("\n") ? ["      It ends with a line break: from a pipe, write one more."] : []),
    ]),
  ];
}
