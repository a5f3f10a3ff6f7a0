import { createRequire } from "node:module";
import { expect, test } from "vitest";
import type { WireEndpoint } from "../../../provider/api/contract";
import type { ExportedResource, ExportedState } from "../../../sdk/testing";
import { edit, methods, onBothDrivers, plainIn, type Start, writes } from "../setup";
import { type RecordedState, readState, restored } from "./recorded";

/* Takes recorded states on with this version. */

/** The version of the compiled package, which the stacks run. */
export const { VERSION: BUILT }: { VERSION: string } = createRequire(import.meta.url)(
  "../../../dist/provider/api/version.js",
);

/** Whether the state has endpoints of many kinds, with one provider. */
export const hasSeveral = (name: string) => name === "dynamic" || name === "plugin";

/** Whether somebody edited the endpoints, and a refresh found that. */
export const isDrifted = (name: string) => name === "drifted";

const TYPES = ["pulumi-nodejs:dynamic/endpoints:CloudEndpoint", "endpoints:index:CloudEndpoint"];
const endpointsIn = ({ deployment: { resources = [] } }: ExportedState): ExportedResource[] =>
  resources.filter(({ type }) => TYPES.includes(type));

/** The different values of an output or note. */
const valuesOf = (state: ExportedState, name: string) =>
  new Set(endpointsIn(state).map(({ outputs }) => outputs?.[name]));

/** Starts a stack with the recorded program, state and service. */
export async function takeOn(start: Start, recorded: RecordedState, { apiKey }: { apiKey?: string } = {}) {
  const { emulator, state } = await restored(recorded, { ...(apiKey && { apiKey }) });
  const stack = await start(recorded.program, { emulator, config: recorded.config });
  await stack.importState(state);
  return { stack, emulator, state };
}

const changedProgram = ({ program }: RecordedState) =>
  program.replaceAll("front door", "back door").replaceAll('team: "shop"', 'team: "door"');

/** The names of the notes. */
const notesIn = (state: ExportedState) =>
  new Set(
    endpointsIn(state).flatMap(({ outputs }) =>
      Object.keys(outputs ?? {}).filter((name) => /^__/.test(name)),
    ),
  );

const marksIn = (endpoints: WireEndpoint[]) =>
  endpoints.flatMap(({ metadata = "" }) => /"nonce":"\w+"/.exec(metadata)?.[0] ?? []).sort();

export function isTakenOn({ version, name, file }: { version: string; name: string; file: string }): void {
  onBothDrivers(`the state ${name} of version ${version}`, (start) => {
    test("shows no change and needs no request, and is refreshed, changed and destroyed", async () => {
      const recorded = readState(file);
      const { stack, emulator, state } = await takeOn(start, recorded);
      const { length: count } = endpointsIn(state);
      expect(count).toBe(emulator.endpoints.length);
      expect(valuesOf(state, "__version")).toEqual(new Set([version]));
      const marks = marksIn(emulator.endpoints);
      expect(marks).toHaveLength(name === "marked" ? count : 0);

      // Pulumi completes a partial create, so that one is an update without a difference.
      const isWhole = name !== "partial";
      const preview = await stack.preview({ expectNoChanges: isWhole });
      expect(preview.requests).toEqual([]);
      expect(preview.steps.flatMap(({ diff }) => diff)).toEqual([]);
      expect(writes(await stack.refresh({ expectNoChanges: isWhole }))).toEqual([]);

      edit(stack, changedProgram(recorded));
      const up = await stack.up();
      expect(methods({ requests: writes(up) })).toEqual(Array(count).fill("PATCH"));
      const sent = new Set(writes(up).flatMap(({ body }) => Object.keys(Object(body))));
      expect([...sent].filter((field) => field !== "metadata")).toEqual(["id", "description"]);
      expect(marksIn(emulator.endpoints)).toEqual(marks);
      const after = await stack.exportState();
      expect(valuesOf(after, "__version")).toEqual(new Set([BUILT]));
      expect(plainIn(after)).not.toContain("throw-away");
      // Another name of a note would be a new note. An import lacks these two.
      const added = [...notesIn(after)].filter((note) => !notesIn(state).has(note));
      expect(["__given", "__chosen"]).toEqual(expect.arrayContaining(added));
      expect(valuesOf(after, "__entry")).toEqual(valuesOf(state, "__entry"));
      await stack.preview({ expectNoChanges: true });

      expect(methods({ requests: writes(await stack.destroy()) })).toEqual(Array(count).fill("DELETE"));
      expect(emulator.endpoints).toEqual([]);
    });
  });
}
