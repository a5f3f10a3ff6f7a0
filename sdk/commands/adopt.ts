import { plain } from "../../provider/api/apiErrors";
import { adoptionsOf, withAllFields } from "./adopt/adoptable";
import { type Secret, secretsOf } from "./adopt/configSecrets";
import { programOf } from "./adopt/program";
import {
  assertWritable,
  type Command,
  count,
  EXIT,
  log,
  parseOptions,
  runCommand,
  writeResult,
} from "./command";
import { identifier, namesOf } from "./names";
import { setSecret } from "./pulumi";
import { SELECTION_HELP, selectEndpoints, selectionOf, selectionOptions, type Target } from "./selection";

const HELP = `Writes the TypeScript that adopts the account's cloud endpoints as they are: its first \`pulumi up\` changes nothing.

Usage: npx pulumi-endpoints adopt [options]

${SELECTION_HELP}
  --help                this text

Without --stack the account is that of ENDPOINTS_API_KEY and ENDPOINTS_BASE_URL. Secrets found in policies and
metadata become secrets of the configuration; neither the program nor the log shows them. With --stack they are set
in that stack's configuration, without it the commands that set them are listed. docs/adoption.md explains each step.
Exit codes: 0 done, 1 failed, 2 arguments that make no sense, 3 the key was refused.`;

/** One place is enough to find the value; a few more show its use. */
const MOST_PLACES = 3;

const command: Command = {
  name: "adopt",
  help: HELP,

  async run(args) {
    const options = selectionOf(parseOptions(args, selectionOptions));
    assertWritable(options.out);
    const { account, endpoints, target, isTaken } = await selectEndpoints(options);
    const { adoptions, unadoptable } = adoptionsOf(await withAllFields(account, endpoints));
    for (const { live, reason } of unadoptable)
      log(`Left out: ${plain(`${live.id} (${live.url ?? "no URL"}): ${reason}`)}`);
    for (const { live, leftToService } of adoptions)
      for (const field of leftToService)
        log(`Left to the service: ${plain(`${field}, of ${live.id} (${live.url})`)}`);

    const lives = adoptions.map(({ live }) => live);
    const names = namesOf(lives, isTaken);
    const identifiers = namesOf(lives, () => false, identifier);
    const secrets = secretsOf(adoptions, identifiers, (name, value) => isFree(target, name, value));
    const named = adoptions.map((adoption) => {
      const { id } = adoption.live;
      return { ...adoption, name: names.get(id) ?? id };
    });

    // An empty file would only stop the next run, which never overwrites one.
    if (named.length === 0) {
      log("Taken: 0 endpoints, so nothing was written");
      return EXIT.done;
    }
    const program = programOf(named, secrets, unadoptable);
    if (target) await keepSecrets(target, secrets);
    writeResult(options.out, program);
    const where = options.out.file;
    log(`Taken: ${count(named.length, "endpoint")}${where === undefined ? "" : `, written to ${where}`}`);
    if (!target) listSecrets(secrets);
    const stack = target ? ` --stack ${target.stack}` : "";
    log(`Next: pulumi preview${stack}, which shows “adopts … as it is” for each endpoint`);
    return EXIT.done;
  },
};

/** `npx pulumi-endpoints adopt`: writes the program for endpoints that exist already. */
export const adoptCommand = (args: string[]): Promise<number> => runCommand(command, args);

/** Whether the stack's configuration has no other value under this name. */
function isFree(target: Target | undefined, name: string, value: string): boolean {
  const current = target?.config(`${target.name}:${name}`);
  return current === undefined || current === value;
}

async function keepSecrets({ project, stack }: Target, secrets: readonly Secret[]): Promise<void> {
  for (const { name, value } of secrets) await setSecret(project, stack, name, value);
  const names = secrets.map(({ name }) => name).join(", ");
  if (secrets.length > 0) log(`Set: ${count(secrets.length, "secret")} of the stack ${stack}: ${names}`);
}

function listSecrets(secrets: readonly Secret[]): void {
  if (secrets.length === 0) return;
  log(
    "Set these secrets of the configuration to the values at these places, without a line break at the end and without the word `Bearer`. The commands ask for the value, or read it from a pipe:",
  );
  for (const { name, places } of secrets) {
    log(`  pulumi config set --secret ${name}`);
    for (const { id, url, path } of places.slice(0, MOST_PLACES))
      log(`      ${plain(`${path} of ${id} (${url})`)}`);
    if (places.length > MOST_PLACES) log(`      and in ${count(places.length - MOST_PLACES, "other place")}`);
  }
}
