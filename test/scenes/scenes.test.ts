import { describe, test } from "vitest";
import { badReplies, lostCreates, takenUrls } from "./creates";
import { ordersOf, play } from "./inProcess";
import { betweenProviders, moves, renames } from "./moves";
import { adoption, markedEndpoints } from "./owners";
import type { Scene } from "./scene";
import { drift, gone, secrets } from "./service";

const subjects: Record<string, Scene[]> = {
  renames,
  moves,
  "moves between the providers": betweenProviders,
  "taken URLs": takenUrls,
  "lost creates": lostCreates,
  "replies that cannot be read": badReplies,
  adoption,
  marks: markedEndpoints,
  "endpoints that are gone": gone,
  drift,
  secrets,
};

describe.each(["dynamic", "plugin"] as const)("with the %s provider", (kind) => {
  describe.each(Object.entries(subjects))("%s:", (_, scenes) => {
    for (const scene of scenes) {
      // A scene that is to be must fail until the core has it.
      const check = scene.toBe ? test.fails : test;
      check(scene.name, async () => {
        // The plugin has the same core, so its first and its last order are enough.
        const all = ordersOf(scene);
        for (const order of kind === "plugin"
          ? all.filter((_, index) => index % (all.length - 1 || 1) === 0)
          : all)
          await play(scene, kind, order).catch((error: Error) => {
            error.message = `${order.pace}, ${order.names.join(", ")}: ${error.message}`;
            throw error;
          });
      });
    }
  });
});
