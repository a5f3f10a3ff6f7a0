import { expect, test } from "vitest";
import { bodies, methods, onBothDrivers, writes } from "./setup";
import { readState, recordedStates } from "./states/recorded";
import { hasSeveral, isDrifted, isTakenOn, takeOn } from "./states/takeOn";

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
  });
}
