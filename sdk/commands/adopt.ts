import { parseArgs } from "node:util";
import { plain } from "../../provider/api/userError";
import { type Adoption, adoptionsOf, withAllFields } from "./adopt/adoptable";
import { type Secret, secretsOf } from "./adopt/configSecrets";
import { programOf } from "./adopt/program";
import { CHOICE_HELP, type ChoiceOptions, choiceOptions, choose, readChoice, type Target } from "./choice";
import { assertWritable, type Command, count, runCommand, tell, writeResult } from "./command";
import { identifier, namesOf } from "./names";
import { setSecret } from "./stacks";

const HELP = `Writes the TypeScript that takes over the account's cloud endpoints, as they are: its first \`pulumi up\` changes nothing.

Usage: npx pulumi-endpoints adopt [options]

${CHOICE_HELP}
  --help                this text

Without --stack the account is the one of ENDPOINTS_API_KEY and ENDPOINTS_BASE_URL. Secrets found in policies and
metadata become secrets of the configuration, and stand neither in the program nor in what is printed: with --stack
they are set in that stack's configuration, without it the commands that set them are listed. docs/adoption.md has it
step by step. Exit codes: 0 done, 1 failed, 2 arguments that make no sense, 3 the key was refused.`;

/** One place is enough to find the value; a few more show its use. */
const MOST_PLACES = 3;

/** `npx pulumi-endpoints adopt`: writes the program for endpoints that exist already. */
export function adoptCommand(args: string[]): Promise<number> {
  return runCommand(command, args);
}

const command: Command<ChoiceOptions> = {
  name: "adopt",
  help: HELP,
  read: (args) => readChoice(parseArgs({ args, options: choiceOptions }).values),

  async run(options) {
    assertWritable(options.out);
    const { account, endpoints, target, isTaken } = await choose(options);
    const { adoptions, unadoptable } = adoptionsOf(await withAllFields(account, endpoints));
    for (const { live, reason } of unadoptable)
      tell(`Left out: ${plain(`${live.id} (${live.url ?? "no URL"}): ${reason}`)}`);
    for (const { live, leftToService } of adoptions)
      for (const field of leftToService)
        tell(`Left to the service: ${plain(`${field}, of ${live.id} (${live.url})`)}`);

    const lives = adoptions.map(({ live }) => live);
    const names = namesOf(lives, isTaken);
    const identifiers = namesOf(lives, () => false, identifier);
    const secrets = secretsOf(adoptions, identifiers, (name, value) => isFree(target, name, value));
    const called = (map: ReadonlyMap<string, string>, { live }: Adoption) => map.get(live.id) ?? live.id;
    const named = adoptions.map((adoption) => ({
      ...adoption,
      name: called(names, adoption),
      identifier: called(identifiers, adoption),
    }));

    // An empty file would only stop the next run, which never overwrites one.
    if (named.length === 0) return void tell("Taken: 0 endpoints, so nothing was written");
    const program = programOf(named, secrets, unadoptable);
    if (target) await keepSecrets(target, secrets);
    writeResult(options.out, program);
    const where = options.out.file;
    tell(`Taken: ${count(named.length, "endpoint")}${where === undefined ? "" : `, written to ${where}`}`);
    if (!target) listSecrets(secrets);
    const stack = target ? ` --stack ${target.stack}` : "";
    tell(`Next: pulumi preview${stack}, which shows “adopts … as it is” for each endpoint`);
  },
};

/** Whether the stack's configuration has no other value under this name. */
function isFree(target: Target | undefined, name: string, value: string): boolean {
  const there = target?.values.get(`${target.name}:${name}`);
  return there === undefined || there.value === value;
}

async function keepSecrets({ project, stack }: Target, secrets: readonly Secret[]): Promise<void> {
  for (const { name, value } of secrets) await setSecret(project, stack, name, value);
  const names = secrets.map(({ name }) => name).join(", ");
  if (secrets.length > 0) tell(`Set: ${count(secrets.length, "secret")} of the stack ${stack}: ${names}`);
}

function listSecrets(secrets: readonly Secret[]): void {
  if (secrets.length === 0) return;
  tell(
    "Set these secrets of the configuration to the values at these places, without a line break at the end and without the word `Bearer`. The commands ask for the value, or read it from a pipe:",
  );
  for (const { name, places } of secrets) {
    tell(`  pulumi config set --secret ${name}`);
    for (const { id, url, path } of places.slice(0, MOST_PLACES))
      tell(`      ${plain(`${path} of ${id} (${url})`)}`);
    if (places.length > MOST_PLACES)
      tell(`      and in ${count(places.length - MOST_PLACES, "other place")}`);
  }
}
