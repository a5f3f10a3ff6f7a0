import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { policyFromText } from "../../../provider/endpoint/documents";
import { findPulumiCli } from "../../../sdk/testing";
import { randomNumbers } from "../../../sdk/testing/emulator/random";
import { hostileJson, hostileYaml } from "../../provider/endpoint/hostileTexts";
import { adviceFor, advicePage, adviceRow, variants } from "./advice";
import { cell, type Plan, shuffled, type Unit, unitsOf } from "./cells";
import { comparisonPage, measure } from "./comparison";
import { RawFile } from "./rawFile";
import { measureStacks } from "./stacks";
import { measureTenants, tenantPlans, tenantsPage, tenantsRow } from "./tenants";

const HELP = `Compares this package with a plain dynamic provider and with a provider that does nothing.

Usage: npm run bench -- [options]

  (nothing)       run the measurements without a result yet, then write the pages
  --render        only write the pages from the raw results
  --advice        measure a large stack on the CLI, and settings that make it faster
  --tenants       measure the example tenants within the service's rate limit, on the CLI; takes 10 minutes
  --texts         print how long the parsers take for the longest hostile texts
  --stacks        measure a drift of 50 stacks in 5 projects on the CLI, three times

  --runs N        number of rounds (default: 5)
  --sizes A,B     numbers of endpoints (default: 10,100,500,1000)
  --driver NAME   kit or cli (default: cli)
  --out FOLDER    folder of the results (default: test/tools/bench/results)

An interrupted benchmark can be started again: it keeps its results.`;

/** Relative to the compiled benchmark. */
const RESULTS = resolve(__dirname, "../../../../../../test/tools/bench/results");

async function main(): Promise<void> {
  const flag = { type: "boolean", default: false } as const;
  const { values } = parseArgs({
    options: {
      ...{ render: flag, advice: flag, tenants: flag, texts: flag, stacks: flag, help: flag },
      runs: { type: "string", default: "5" },
      sizes: { type: "string", default: "10,100,500,1000" },
      driver: { type: "string", default: "cli" },
      out: { type: "string", default: RESULTS },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  if (values.stacks) {
    for (const { seconds, requests, memory } of await measureStacks(3))
      console.log(`${seconds.toFixed(0)} s, ${requests} requests, at most ${memory} MB`);
    return;
  }
  if (values.texts) {
    parseTexts();
    return;
  }
  const { out } = values;
  const runs = Number(values.runs);
  const driver = cell.shape.driver.parse(values.driver);
  if (values.advice) await advise(out, runs);
  else if (values.tenants) await compareStacks(out);
  else if (!values.render) await compare(out, { runs, sizes: values.sizes.split(",").map(Number), driver });
  writePages(out);
}

/** Appends a cell for each operation. Skips the units whose last operation is measured. */
async function compare(out: string, plan: Plan): Promise<void> {
  if (plan.driver === "cli" && !(await findPulumiCli()))
    throw new Error("there is no Pulumi CLI on the PATH; --driver kit measures the test kit's engine");
  const file = comparisonIn(out);
  const { lines } = file.begin();
  const isMeasured = ({ round, size, driver, contestant }: Unit) =>
    lines.some(
      (line) =>
        line.operation === "destroy" &&
        [line.round, line.size, line.driver, line.contestant].join() ===
          [round, size, driver, contestant].join(),
    );
  for (const unit of unitsOf(plan).filter((unit) => !isMeasured(unit))) {
    const { round, size, driver, contestant } = unit;
    for await (const measured of measure(unit)) {
      file.append(measured);
      const { operation, seconds } = measured;
      console.log(`round ${round}, ${driver}, ${size}, ${contestant}: ${operation} ${seconds.toFixed(2)} s`);
    }
  }
}

async function advise(out: string, runs: number): Promise<void> {
  const file = adviceIn(out);
  const { lines } = file.begin();
  for (let round = 1; round <= runs; round++) {
    for (const variant of shuffled(randomNumbers(round), variants)) {
      if (lines.some((line) => line.round === round && line.variant === variant)) continue;
      const { create, destroy } = await adviceFor(variant);
      file.append({ round, variant, create, destroy });
      console.log(`round ${round}, ${variant}: up ${create.toFixed(1)} s, destroy ${destroy.toFixed(1)} s`);
    }
  }
}

/** Appends a line for each operation. Skips the plans whose last operation is measured. */
async function compareStacks(out: string): Promise<void> {
  const file = tenantsIn(out);
  const { lines } = file.begin();
  for (const [stacks, atOnce] of tenantPlans) {
    if (
      lines.some((line) => line.stacks === stacks && line.atOnce === atOnce && line.operation === "up again")
    )
      continue;
    for await (const measured of measureTenants(stacks, atOnce)) {
      file.append({ stacks, atOnce, ...measured });
      console.log(`${stacks} stacks, ${atOnce} at once: ${JSON.stringify(measured)}`);
    }
  }
}

/**
 * Prints the shortest processor time of three runs for each text, the longest first. Fails if one takes more than a second.
 */
function parseTexts(): void {
  const texts = [
    ...Object.entries(hostileYaml).map(([name, text]) => [`YAML of ${name}`, text(49_000)] as const),
    ...Object.entries(hostileJson).map(([name, text]) => [`JSON of ${name}`, text(990_000)] as const),
  ];
  const timeOf = (text: string) => {
    const before = process.cpuUsage();
    policyFromText(text);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e6;
  };
  const times = texts.map(([name, text]) => ({
    name,
    seconds: Math.min(...[1, 2, 3].map(() => timeOf(text))),
  }));
  for (const { name, seconds } of times.sort((a, b) => b.seconds - a.seconds)) {
    console.log(`${seconds.toFixed(3)} s  ${name}`);
    if (seconds > 1) process.exitCode = 1;
  }
}

/** Writes a page for each existing file of raw results. */
function writePages(out: string): void {
  const advice = adviceIn(out).read();
  if (advice) writeFileSync(join(out, "advice.md"), advicePage(advice));
  const tenants = tenantsIn(out).read();
  if (tenants) writeFileSync(join(out, "tenants.md"), tenantsPage(tenants));
  const comparison = comparisonIn(out).read();
  if (comparison) writeFileSync(join(out, "comparison.md"), comparisonPage(comparison));
}

const comparisonIn = (out: string) => new RawFile(join(out, "comparison.jsonl"), cell);
const tenantsIn = (out: string) => new RawFile(join(out, "tenants.jsonl"), tenantsRow);
const adviceIn = (out: string) => new RawFile(join(out, "advice.jsonl"), adviceRow);

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
