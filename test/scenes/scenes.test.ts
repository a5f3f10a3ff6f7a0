import { describe, test } from "vitest";
import { playOnModel } from "./onModel";
import { ordersOf } from "./orders";
import { subjects } from "./subjects";

describe.each(["dynamic", "plugin"] as const)("with the %s provider", (kind) => {
  describe.each(Object.entries(subjects))("%s:", (_, scenes) => {
    const played = scenes.filter(({ on = kind }) => on === kind);
    test.each(played.map((scene) => [scene.name, scene] as const))("%s", async (_, scene) => {
      const all = ordersOf(scene);
      // The plugin has the same core, so its first and its last order are enough.
      const some = all.filter((_, index) => index % (all.length - 1 || 1) === 0);
      for (const order of kind === "plugin" ? some : all)
        await playOnModel(scene, kind, order).catch((error: Error) => {
          error.message = `${order.pace}, ${order.names?.join(", ")}: ${error.message}`;
          throw error;
        });
    });
  });
});
