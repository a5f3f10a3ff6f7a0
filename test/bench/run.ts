import { join } from "node:path";
import { findPulumiCli } from "../../sdk/testing";
import { type Cell, cell, type Unit } from "./cells";
import { thisMachine } from "./machine";
import { measure } from "./measure";
import { HELP, type Options, readOptions } from "./options";
import { RawFile } from "./rawFile";
import { unitsOf } from "./units";

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (!options) {
    console.log(HELP);
    return 0;
  }
  if (options.what === "measure") await measureAll(options);
  return 0;
}

async function measureAll({ plan, out }: Options): Promise<void> {
  const file = new RawFile(join(out, "comparison.jsonl"), cell);
  const { lines } = file.begin(thisMachine());
  const cli = await findPulumiCli();
  if (!cli && plan.drivers.includes("cli"))
    console.log("There is no Pulumi CLI on the PATH, so it is left out.");
  const drivers = plan.drivers.filter((driver) => driver !== "cli" || cli);
  const units = unitsOf({ ...plan, drivers }).filter((unit) => !lines.some((line) => endsLife(line, unit)));
  for (const [index, unit] of units.entries()) {
    const name = `${unit.driver}, ${unit.size} endpoints, ${unit.contestant}`;
    const times: string[] = [];
    for await (const measured of measure(unit)) {
      file.append(measured);
      times.push(`${measured.operation} ${measured.seconds.toFixed(2)} s`);
    }
    console.log(`${index + 1}/${units.length} round ${unit.round}: ${name}: ${times.join(", ")}`);
  }
}

/** A unit that was ended before its last operation is measured anew, and the later cell counts. */
const endsLife = (line: Cell, unit: Unit) =>
  line.operation === "destroy" &&
  line.round === unit.round &&
  line.size === unit.size &&
  line.driver === unit.driver &&
  line.contestant === unit.contestant;

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  },
);
