import type { Clock } from "../../provider/service/clock";
import type { DrivenProvider } from "../provider/bothProviders";
import type { Run, Scene } from "./scene";

/* The orders in which the engine may call providers, and a phase of a run. */

export type Kind = "dynamic" | "plugin";
const TYPES = {
  dynamic: "pulumi-nodejs:dynamic/endpoints:CloudEndpoint",
  plugin: "endpoints:index:CloudEndpoint",
};

/** How the engine hands out steps. In all but `one by one`, it asks for several resources before a step has ended. */
const paces = { parallel: ["together", "late"], serial: ["one by one", "planned"] } as const;
export type Pace = "one by one" | "planned" | "together" | "late";

/** An order of the engine's calls: how it hands out steps, and in which order it takes resources. */
export interface Order {
  pace: Pace;
  names: string[];
}

/** All orders that the engine may choose, and that make a difference. */
export function ordersOf(scene: Scene): Order[] {
  const { from = {}, leftBy = {}, runs, engine, order } = scene;
  const programs = [from, leftBy, ...runs.map(({ program = {} }) => program)];
  const names = [...new Set(programs.flatMap(Object.keys))];
  if (order) return paces[engine ?? "parallel"].map((pace) => ({ pace, names: order }));
  if (!hasSeveralAtOnce(scene)) return [{ pace: engine === "serial" ? "planned" : "together", names }];
  const chosen = engine ? paces[engine] : [...paces.parallel, ...paces.serial];
  return chosen.flatMap((pace) => permutations(names).map((names) => ({ pace, names })));
}

/** Whether the engine may ask for several resources in one phase. Deletions have their own. */
function hasSeveralAtOnce({ from = {}, runs }: Scene): boolean {
  let program = from;
  const known = new Set(Object.keys(from));
  return [{ program: from }, ...runs].some((run: Run) => {
    program = run.program ?? program;
    const wanted = Object.keys(program);
    for (const name of wanted) known.add(name);
    const removed = [...known].filter((name) => !(name in program));
    const isUp = run.command === undefined || run.command === "up";
    return isUp ? wanted.length > 1 || removed.length > 1 : (run.target?.length ?? known.size) > 1;
  });
}

const permutations = (names: string[]): string[][] =>
  names.length < 2
    ? [names]
    : names.flatMap((first) =>
        permutations(names.filter((name) => name !== first)).map((rest) => [first, ...rest]),
      );

export type Step = () => Promise<unknown>;

/** A phase of a run: its provider processes, and the errors of its steps. */
export class Phase {
  readonly errors: string[] = [];
  private readonly processes = new Map<Kind, Promise<DrivenProvider>>();
  private readonly started: DrivenProvider[] = [];

  constructor(
    private readonly pace: Pace,
    private readonly clock: Clock,
    private readonly run: Run,
    private readonly start: (kind: Kind) => Promise<DrivenProvider>,
  ) {}

  logged = () => this.started.flatMap((process) => process.logged());

  async provider(kind: Kind, name: string): Promise<DrivenProvider> {
    const process = this.processes.get(kind) ?? this.start(kind);
    this.processes.set(kind, process);
    if (!this.started.includes(await process)) this.started.push(await process);
    return (await process).of(`urn:pulumi:${this.run.stack ?? "dev"}::shop::${TYPES[kind]}::${name}`);
  }

  /** Asks for each resource, and takes the steps. An error stops the rest, unless the run continues on errors. */
  async steps(names: string[], ask: (name: string) => Promise<Step>): Promise<void> {
    const asked: Step[] = [];
    const running: Promise<unknown>[] = [];
    for (const name of names) {
      const step = await this.noted(() => ask(name));
      if (!step) continue;
      if (this.pace === "one by one") await this.noted(step);
      else if (this.pace === "late") {
        running.push(this.noted(step));
        await this.clock.sleep(500);
      } else asked.push(step);
    }
    for (const step of asked) {
      running.push(this.noted(step));
      if (this.pace === "planned") await running.at(-1);
    }
    await Promise.all(running);
  }

  private async noted<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (this.errors.length > 0 && !this.run.continueOnError) return undefined;
    return work().catch((error: unknown) => {
      this.errors.push(error instanceof Error ? error.message : String(error));
      return undefined;
    });
  }
}
