import { oneLine } from "../../provider/api/text";
import { pathText } from "../../provider/endpoint/documents";
import { adoptionsOf, isMarked, logLeft, withAllFields } from "./adopt/adoptable";
import { type ConfigSecret, secretsOf } from "./adopt/configSecrets";
import { programOf } from "./adopt/program";
import { command, count, EXIT, type LogLine } from "./command";
import { logLeftOut, namesOf, selectEndpoints, selectionOptions, writeResult } from "./selection";
import { setSecret } from "./userProject";

/** `npx pulumi-endpoints adopt`: writes the program for existing endpoints. */
export const adoptCommand = command({
  name: "adopt",
  about:
    "Writes the TypeScript that adopts the account's cloud endpoints as they are: its first `pulumi up` changes nothing.",
  options: selectionOptions,
  notes: `Without --stack the account is that of ENDPOINTS_API_KEY and ENDPOINTS_BASE_URL. Secrets found in policies and metadata become secrets of the configuration; neither the program nor the log shows them. With --stack, the command sets them in that stack's configuration. Without --stack, it lists the commands that set them. See docs/adoption.md.
Exit codes: 0 done, 1 failed, 2 invalid arguments, 3 the key was refused.`,

  async run(values, io) {
    const { log } = io;
    const selected = await selectEndpoints(values, log);
    const { account, endpoints, target, isTaken, addressOf } = selected;
    const lives = await withAllFields(account, endpoints, log);
    const { adoptions, unadoptable } = adoptionsOf(lives);
    for (const { live, reason } of unadoptable) logLeftOut(log, live, reason);
    for (const { live, leftToService } of adoptions)
      for (const what of leftToService) logLeft(log, live, what);
    // An empty file would only stop the next run, which never overwrites one.
    if (adoptions.length === 0) {
      log("Selected: 0 endpoints, so nothing was written");
      selected.logForget([]);
      return EXIT.done;
    }

    const adopted = adoptions.map(({ live }) => live);
    const names = namesOf(adopted, isTaken, addressOf);
    const project = (await target?.project.projectSettings())?.name;
    const secrets = secretsOf(adoptions, names, (name, value) => {
      const current = target?.config(`${project}:${name}`);
      return current === undefined || current === value;
    });
    const program = programOf(adoptions, names, secrets, unadoptable);
    if (target && secrets.length > 0) {
      const { project, stack } = target;
      for (const { name, value } of secrets) await setSecret(project, stack, name, value);
      const all = secrets.map(({ name }) => name).join(", ");
      log(`Set: ${count(secrets.length, "secret")} of the stack ${stack}: ${all}`);
    }
    writeResult(values, io, adoptions.length, program);
    if (!target) listSecrets(secrets, log);
    const marked = adoptions.some(isMarked) ? ", or “changes its mark”" : "";
    const stack = target ? ` --stack ${target.stack}` : "";
    log(
      `Next: import this file in the program, then run pulumi preview${stack}, which shows “adopts … as it is” for each endpoint${marked}`,
    );
    if (!target) log("With --stack NAME, endpoints that the stack already manages are left out");
    selected.logForget(adopted);
    return EXIT.done;
  },
});

/** One place is enough to find the value; a few more show its use. */
const PLACES_SHOWN = 3;

function listSecrets(secrets: readonly ConfigSecret[], log: LogLine): void {
  if (secrets.length === 0) return;
  log(
    "Set these secrets in the stack's configuration. Each value is at the places below its command, without the word `Bearer` and without a line break at its end. The commands ask for the value, or read it from a pipe:",
  );
  for (const { name, places } of secrets) {
    log(`  pulumi config set --secret ${name}`);
    for (const { id, url, path } of places.slice(0, PLACES_SHOWN))
      log(`      ${oneLine(`${pathText(path)} of ${id} (${url})`)}`);
    if (places.length > PLACES_SHOWN)
      log(`      and in ${count(places.length - PLACES_SHOWN, "other place")}`);
  }
}
