import { expect, test } from "vitest";
import { VERSION } from "../../provider/api/version";
import type { ExportedState } from "../../sdk/testing";
import { bodies, edit, errors, failure, methods, onBothDrivers, writes } from "./setup";
import { readState, recordedStates } from "./states/recorded";
import {
  BUILT,
  changedProgram,
  endpointsIn,
  hasSeveral,
  isDrifted,
  isTakenOn,
  takeOn,
  valuesOf,
} from "./states/takeOn";

for (const recorded of recordedStates)
  if (!hasSeveral(recorded.name) && !isDrifted(recorded.name)) isTakenOn(recorded);

for (const { version, name, file } of recordedStates)
  if (isDrifted(name))
    onBothDrivers(`the state ${name} of version ${version}`, (start) => {
      test("shows what was edited by hand without a request, and the next up restores it", async () => {
        const { stack, emulator } = await takeOn(start, readState(file));
        const preview = await stack.preview();
        expect(preview.requests).toEqual([]);
        expect(preview.steps.flatMap(({ diff }) => diff.map((one) => one.slice(1)))).toEqual([
          "bindings",
          "bindings",
        ]);
        const restored = emulator.endpoints.map(({ id }) => ({ id, bindings: ["public"] }));
        expect(bodies({ requests: writes(await stack.up()) })).toEqual(expect.arrayContaining(restored));
        await stack.preview({ expectNoChanges: true });
        await stack.destroy();
      });
    });

/** What a later version adds to a state. */
const ADDED = { __later: { of: ["a", "note"] }, zone: "eu" };

const major = Number(VERSION.split(".")[0]);
const [NEXT_MINOR, NEXT_MAJOR] = [`${major}.99.0`, `${major + 1}.0.0`];

const addedTo = (version: string) => (state: ExportedState) => {
  for (const { outputs = {} } of endpointsIn(state)) {
    Object.assign(outputs, ADDED, { __version: version });
    if (Array.isArray(outputs["__given"])) outputs["__given"].push("zone");
  }
};

for (const { version, name, file } of recordedStates) {
  if (!hasSeveral(name)) continue;
  onBothDrivers(`the state ${name} of version ${version}`, (start) => {
    test("with another key still tells what was edited and deleted by hand", async () => {
      const { stack, emulator } = await takeOn(start, readState(file), { apiKey: "rotated" });
      expect((await stack.up({ expectNoChanges: true })).requests).toEqual([]);
      const idOf = (host: string) =>
        emulator.endpoints.find(({ url }) => url === `https://${host}.example.com`)?.id ?? "";
      emulator.edit(idOf("plain"), { bindings: ["internal"] });
      emulator.remove(idOf("full"));
      const { changes } = await stack.refresh();
      expect(changes).toMatchObject({ update: 1, delete: 1 });
      const up = await stack.up();
      expect(methods({ requests: writes(up) }).sort()).toEqual(["PATCH", "POST"]);
      expect(writes(up).find(({ method }) => method === "PATCH")?.body).toEqual({
        id: idOf("plain"),
        bindings: ["public"],
      });
      await stack.destroy();
    });

    test("keeps what a later minor version added to it", async () => {
      const before = readState(file);
      const { stack } = await takeOn(start, before, { change: addedTo(NEXT_MINOR) });
      const keepsAll = async () => {
        for (const { outputs } of endpointsIn(await stack.exportState()))
          expect(outputs).toMatchObject({
            ...ADDED,
            ...(outputs?.["__given"] !== undefined && { __given: expect.arrayContaining(["zone"]) }),
          });
      };
      expect((await stack.preview({ expectNoChanges: true })).requests).toEqual([]);
      await stack.refresh({ expectNoChanges: true });
      await keepsAll();
      edit(stack, changedProgram(before));
      await stack.up();
      await keepsAll();
      expect(valuesOf(await stack.exportState(), "__version")).toEqual(new Set([BUILT]));
      await stack.destroy();
    });

    test("is refused without a request if a later major version wrote it", async () => {
      const { stack, emulator, state } = await takeOn(start, readState(file), {
        change: addedTo(NEXT_MAJOR),
      });
      for (const run of [stack.preview, stack.refresh, stack.up, stack.destroy]) {
        const refusal = await failure(run());
        expect(errors(refusal).join("\n")).toContain(
          ` was written by pulumi-endpoints ${NEXT_MAJOR}, and ${BUILT} is too old to read it. Install`,
        );
        expect(refusal.requests).toEqual([]);
      }
      expect(endpointsIn(await stack.exportState())).toHaveLength(endpointsIn(state).length);
      expect(emulator.endpoints).toHaveLength(endpointsIn(state).length);
      // Before the failure, the engines may have deleted components, in any order.
      await stack.importState(state);
    });
  });
}
