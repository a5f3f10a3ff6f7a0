import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { dynamic } from "@pulumi/pulumi";
import { z } from "zod";
import { atOnce } from "./atOnce";
import { operations } from "./cells";
import { declaredEndpoints } from "./contestants/endpoints";
import { directTask } from "./direct";

/* One operation of one contestant without an engine. Its task comes as a message, and its time is sent back. */

const state = z.array(
  z.object({
    id: z.string(),
    name: z.string(),
    inputs: z.record(z.string(), z.unknown()),
    outs: z.record(z.string(), z.unknown()),
  }),
);
type Entry = z.output<typeof state>[number];

const task = directTask.extend({ operation: z.enum(operations) });
type Task = z.output<typeof task>;

process.once("message", async (message) => {
  const { contestant, ...given } = task.parse(message);
  const entries = existsSync(given.stateFile)
    ? state.parse(JSON.parse(readFileSync(given.stateFile, "utf8")))
    : [];
  const work =
    contestant === "raw" ? await rawWork(given, entries) : await providerWork(contestant, given, entries);
  const started = performance.now();
  const after = await work();
  const seconds = (performance.now() - started) / 1000;
  writeFileSync(given.stateFile, JSON.stringify(after));
  process.send?.({ seconds });
});

async function rawWork(
  given: Task | Omit<Task, "contestant">,
  entries: Entry[],
): Promise<() => Promise<Entry[]>> {
  const { rawOperation } = await import("./contestants/raw");
  const { operation, size } = given;
  const ids = new Map(entries.map(({ name, id }) => [name, id]));
  return async () => {
    await rawOperation(operation, size, ids, given);
    return [...ids].map(([name, id]) => ({ name, id, inputs: {}, outs: {} }));
  };
}

/** Loads the contestant's provider; its methods are what Pulumi's dynamic provider host would call. */
async function providerWork(
  contestant: string,
  { operation, size, parallel }: Omit<Task, "contestant">,
  entries: Entry[],
): Promise<() => Promise<Entry[]>> {
  const { provider, inputsFor } = contestant === "plain" ? await plain() : await ours();
  const declared = new Map(inputsFor(size, operation === "update").map(({ name, args }) => [name, args]));
  const checked = async (olds: object, news: object): Promise<Entry["inputs"]> =>
    (await provider.check?.(olds, news))?.inputs ?? news;

  const create = async (): Promise<Entry[]> => {
    const made: Entry[] = [];
    await atOnce(parallel, [...declared], async ([name, args]) => {
      const inputs = await checked({}, args);
      const { id, outs } = await provider.create(inputs);
      made.push({ id, name, inputs, outs });
    });
    return made;
  };

  const update = async (): Promise<Entry[]> => {
    await atOnce(parallel, entries, async (entry) => {
      const { id, name, inputs: olds, outs } = entry;
      entry.inputs = await checked(olds, declared.get(name) ?? {});
      const diff = await provider.diff?.(id, outs, entry.inputs);
      if (!diff?.changes) return;
      if (operation === "preview") throw new Error(`${name} changes, and nothing about it did`);
      entry.outs = (await provider.update?.(id, outs, entry.inputs))?.outs ?? outs;
    });
    return entries;
  };

  const refresh = async (): Promise<Entry[]> => {
    await atOnce(parallel, entries, async (entry) => {
      const found = await provider.read?.(entry.id, entry.outs);
      if (!found?.id) throw new Error(`${entry.name} is gone`);
      entry.outs = found.props;
    });
    return entries;
  };

  const destroy = async (): Promise<Entry[]> => {
    await atOnce(parallel, entries, async ({ id, outs }) => provider.delete?.(id, outs));
    return [];
  };

  return { create, preview: update, refresh, update, destroy }[operation];
}

interface Provided {
  provider: dynamic.ResourceProvider;
  inputsFor: (size: number, changed: boolean) => { name: string; args: object }[];
}

async function ours(): Promise<Provided> {
  const { configure, ...provider } = await import("pulumi-endpoints/provider");
  const settings: Record<string, string> = { "endpoints:requestsPerWindow": "1000000" };
  configure({ config: { get: (key) => settings[key] } });
  const inputsFor = (size: number, changed: boolean) =>
    declaredEndpoints(size, changed).map(({ name, ...args }) => ({ name, args }));
  return { provider, inputsFor };
}

async function plain(): Promise<Provided> {
  const { provider, plainInputs } = await import("./contestants/plain");
  return { provider, inputsFor: plainInputs };
}
