import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findPulumiCli } from "../../sdk/testing";
import { Random } from "../../sdk/testing/emulator/random";
import { adviceFor, adviceRow, variants } from "./advice";
import { budgetRow, withinTheBudget } from "./budget";
import { type Cell, cell, drivers, type Unit } from "./cells";
import { type Claim, claims } from "./claims";
import { thisMachine } from "./machine";
import { measure } from "./measure";
import { HELP, type Options, readOptions } from "./options";
import { quiet } from "./quiet";
import { RawFile } from "./rawFile";
import { advicePage } from "./render/advice";
import { budgetPage } from "./render/budget";
import { comparisonPage } from "./render/comparison";
import { plot } from "./render/plot";
import { Results } from "./results";
import { shuffled, unitsOf } from "./units";

/* `npm run bench`: measures, and writes what it measured in a form that people read. */

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (!options) {
    console.log(HELP);
    return 0;
  }
  const { what, out } = options;
  if (what === "measure") await compare(options);
  if (what === "budget") await budget(out);
  if (what === "advice") await advise(options);
  const told = render(out);
  for (const { what, holds, figures } of told) console.log(`${verdict(holds)}  ${what}: ${figures}`);
  return what === "check" && told.some(({ holds }) => holds !== true) ? 1 : 0;
}

const verdict = (holds: boolean | undefined) => (holds === undefined ? "  ? " : holds ? " yes" : " NO ");

/** Appends a cell for each operation, and leaves out the lives that have been measured to their end. */
async function compare({ plan, out, busy }: Options): Promise<void> {
  const file = comparisonIn(out);
  const { lines } = file.begin(thisMachine());
  const cli = await findPulumiCli();
  if (!cli && plan.drivers.includes("cli"))
    console.log("There is no Pulumi CLI on the PATH, so it is left out.");
  const drivers = plan.drivers.filter((driver) => driver !== "cli" || cli);
  const units = unitsOf({ ...plan, drivers }).filter((unit) => !lines.some((line) => endsLife(line, unit)));
  for (const [index, unit] of units.entries()) {
    if (!busy) await waitForQuiet();
    const times: string[] = [];
    for await (const measured of measure(unit)) {
      file.append(measured);
      times.push(`${measured.operation} ${measured.seconds.toFixed(2)} s`);
    }
    const name = `${unit.driver}, ${unit.size} endpoints, ${unit.contestant}`;
    console.log(`${index + 1}/${units.length}, round ${unit.round}: ${name}: ${times.join(", ")}`);
  }
}

async function waitForQuiet(): Promise<void> {
  if (!(await quiet())) console.log("Somebody else uses the machine: what follows may be too slow.");
}

const endsLife = (line: Cell, unit: Unit) =>
  line.operation === "destroy" &&
  line.round === unit.round &&
  line.size === unit.size &&
  line.driver === unit.driver &&
  line.contestant === unit.contestant;

async function budget(out: string): Promise<void> {
  const rows = await withinTheBudget(500);
  const file = budgetIn(out);
  rmSync(file.file, { force: true });
  file.begin(thisMachine());
  for (const row of rows) file.append(row);
}

async function advise({ plan, out, busy }: Options): Promise<void> {
  const file = adviceIn(out);
  const { lines } = file.begin(thisMachine());
  for (let round = 1; round <= plan.runs; round++) {
    for (const variant of shuffled(new Random(round), variants)) {
      if (lines.some((line) => line.round === round && line.variant === variant)) continue;
      if (!busy) await waitForQuiet();
      const { create, destroy } = await adviceFor(variant);
      file.append({ round, variant, create, destroy });
      console.log(`round ${round}, ${variant}: up ${create.toFixed(1)} s, destroy ${destroy.toFixed(1)} s`);
    }
  }
}

/** Writes a page, and plots, for each kind of raw results that there are. Gives what can be said of the claims. */
function render(out: string): Claim[] {
  const write = (name: string, text: string) => writeFileSync(join(out, name), text);
  const budgets = budgetIn(out).read();
  if (budgets) write("budget.md", budgetPage(budgets));
  const advice = adviceIn(out).read();
  if (advice) write("advice.md", advicePage(advice));
  const comparison = comparisonIn(out).read();
  if (!comparison) return [];
  write("comparison.md", comparisonPage(comparison));
  const results = new Results(comparison.lines);
  for (const driver of drivers.filter((driver) => results.all({ driver }).length > 0))
    write(`comparison-${driver}.svg`, plot(results, driver));
  return claims(results);
}

const comparisonIn = (out: string) => new RawFile(join(out, "comparison.jsonl"), cell);
const budgetIn = (out: string) => new RawFile(join(out, "budget.jsonl"), budgetRow);
const adviceIn = (out: string) => new RawFile(join(out, "advice.jsonl"), adviceRow);

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  },
);
