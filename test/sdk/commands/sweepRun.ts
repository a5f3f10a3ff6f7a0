import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MARK_FIELD } from "../../../provider/api/mark";
import { sweepWith } from "../../../sdk/commands/sweep";
import { type SweepReport, sweepReportSchema } from "../../../sdk/commands/sweep/sweepReport";
import type { SweepStack } from "../../../sdk/commands/sweep/sweepStacks";
import { parseState, type State } from "../../../sdk/commands/userProject";
import type { Emulator, Seed } from "../../../sdk/testing/emulator";
import { temporaryFolder } from "../../folders";
import { type CommandResult, startInProcess } from "./runCommand";

/* Runs `sweep` with stacks whose states are made up. Their account is an emulator. */

export const MARK = "platform/prod";
export const TYPES = ["pulumi-nodejs:dynamic/endpoints:CloudEndpoint", "endpoints:index:CloudEndpoint"];

export interface FakeStack extends Partial<Omit<SweepStack, "key" | "state">> {
  key?: string;
  /** The ids of its endpoints, or its resources. */
  has?: (string | Record<string, unknown>)[];
  pending?: unknown[];
  state?: (reading: number) => State | Promise<State>;
  on?: Pick<Emulator, "baseUrl" | "apiKey">;
}

export interface World {
  stacks: FakeStack[];
  listed?: string[];
  running?: (reading: number) => [string, string][];
  hidden?: string[];
}

export interface SweepResult extends CommandResult {
  report: SweepReport;
}

/** A state with these endpoints. */
export const stateOf = (has: readonly (string | Record<string, unknown>)[], pending: unknown[] = []): State =>
  parseState({
    deployment: {
      pending_operations: pending,
      resources: [
        { urn: "urn:pulumi:prod::shop::pulumi:pulumi:Stack::shop-prod", type: "pulumi:pulumi:Stack" },
        ...has.map((one, index) => ({
          urn: `urn:pulumi:prod::shop::${TYPES[index % 2]}::e${index}`,
          type: TYPES[index % 2],
          ...(typeof one === "string" ? { id: one } : one),
        })),
      ],
    },
  });

export async function sweep(emulator: Emulator, world: World, ...args: string[]): Promise<SweepResult> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "Pulumi.yaml"), "name: shop\nruntime: nodejs\n");
  const { stacks: given, listed, running = () => [], hidden = [] } = world;
  const stacks = given.map(
    ({ key = "shop/prod", has = [], pending, on = emulator, state, ...own }): SweepStack => {
      const settings: Record<string, string> = {
        "endpoints:baseUrl": on.baseUrl,
        "endpoints:apiKey": on.apiKey,
        "endpoints:retryForSeconds": "1",
        "endpoints:timeoutSeconds": "1",
        "endpoints:requestsPerWindow": "100000",
        "endpoints:windowSeconds": "1",
      };
      let readings = 0;
      return {
        key,
        isKnown: false,
        config: async () => (name) => settings[name],
        state: async () => (state ? state(++readings) : stateOf(has, pending)),
        hasRun: async () => true,
        ...own,
      };
    },
  );
  let looks = 0;
  const look = async () => ({
    listed: listed ?? stacks.map(({ key }) => key),
    running: new Map(running(++looks)),
  });
  const command = sweepWith(async () => ({ stacks, look, hidden }));
  const json = join(folder, "sweep.json");
  const cwd = args.includes("--projects") ? [] : ["--cwd", folder];
  const run = startInProcess(command, ["--mark", MARK, ...cwd, "--json", json, ...args]);
  const code = await run.code;
  const written = args.includes("-") ? run.printed.stdout : readFileSync(json, "utf8");
  return { code, ...run.printed, report: sweepReportSchema.parse(JSON.parse(written)) };
}

let marked = 0;

export interface Marked extends Partial<Seed> {
  /** `project/stack`. */
  of?: string;
  mark?: string;
  /** In seconds. */
  age?: number;
  /** How far the mark's time is from the creation, in seconds. */
  apart?: number;
  now?: number;
}

/** Adds a cloud endpoint with a mark. Returns its id. */
export function seedMarked(emulator: Emulator, given: Marked = {}): string {
  const { of = "shop/prod", mark = MARK, age = 7_200, apart = 0, now = Date.now(), ...seed } = given;
  const [project, stack] = of.split("/");
  const number = ++marked;
  const created = now - age * 1000;
  const time = (at: number) => new Date(at).toISOString().replace(/\.\d+/, "");
  const own = {
    namespace: mark,
    urn: `urn:pulumi:${stack}::${project}::${TYPES[0]}::e${number}`,
    nonce: `n${number}`,
    time: time(created + apart * 1000),
  };
  const { id } = emulator.seed({
    type: "cloud",
    url: `https://e${number}.example.com`,
    created_at: time(created),
    metadata: JSON.stringify({ team: "shop", [MARK_FIELD]: own }),
    ...seed,
  });
  return id;
}

export const requestsTo = ({ requests }: Emulator): string[] =>
  requests.map(({ method, path }) => `${method} ${path}`);

export const writesTo = (emulator: Emulator): string[] =>
  requestsTo(emulator).filter((request) => !request.startsWith("GET"));
