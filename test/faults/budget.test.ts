import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { Emulator, findPulumiCli, type RunResult, TestStack } from "../../sdk/testing";
import { newProject } from "../newProject";

/*
 * Many endpoints on an account with a small budget, with real processes: each command in one run, never beyond the budget.
 * It prints how long each took, and the shortest time that the budget allows. At length: npm run test:faults -- --budget 200
 */
const count = Number(process.env["BUDGET_ENDPOINTS"] ?? 40);
const isLong = process.env["BUDGET_ENDPOINTS"] !== undefined;
const requests = isLong ? 120 : 25;
const windowSeconds = isLong ? 60 : 1;
const cli = await findPulumiCli();

describe.each(["kit", "cli"] as const)("with the driver %s", (driver) => {
  const run = driver === "cli" && !cli ? test.skip : test;

  run(
    `${count} endpoints are created, changed and deleted within ${requests} requests in ${windowSeconds} s`,
    { timeout: 900_000 },
    async () => {
      const times: number[] = [];
      const statuses = new Set<number>();
      const emulator = await Emulator.start({
        rateLimit: { requests, windowSeconds },
        onAnswer: ({ status }) => {
          times.push(Date.now());
          statuses.add(status);
        },
      });
      onTestFinished(() => emulator.close());
      const folder = newProject("budget");
      writeProgram(folder, "new");
      const config = {
        "endpoints:requestsPerWindow": `${requests}`,
        "endpoints:windowSeconds": `${windowSeconds}`,
      };
      const stack = await TestStack.create({
        program: folder,
        driver,
        emulator,
        config: { ...config, ...reach(emulator) },
      });
      onTestFinished(() => stack.close());

      /** Runs a command when the last one's requests are out of every window. */
      const timed = async (name: string, command: () => Promise<RunResult>) => {
        await new Promise((resolve) => setTimeout(resolve, times.length > 0 ? windowSeconds * 1000 : 0));
        times.length = 0;
        await command();
        const took = (times.at(-1) ?? 0) - (times[0] ?? 0);
        const least = (Math.ceil(times.length / requests) - 1) * windowSeconds * 1000;
        rows.push(
          `${driver}, ${name}: ${times.length} requests in ${(took / 1000).toFixed(1)} s, at least ${least / 1000} s`,
        );
      };

      await timed("up", () => stack.up({ skipPreview: true }));
      expect((await stack.preview({ expectNoChanges: true })).requests).toEqual([]);
      writeProgram(folder, "changed");
      await timed("up, all changed", () => stack.up({ skipPreview: true }));
      expect(new Set(emulator.endpoints.map(({ description }) => description))).toEqual(new Set(["changed"]));
      await timed("destroy", () => stack.destroy());
      expect(emulator.endpoints).toEqual([]);
      // The service counts as it will, and never had to refuse.
      expect([...statuses].sort()).toEqual([200, 201, 204]);
    },
  );
});

const rows: string[] = [];
afterAll(() => console.log(rows.join("\n")));

const reach = ({ baseUrl, apiKey }: Emulator) => ({
  "endpoints:baseUrl": baseUrl,
  "endpoints:apiKey": { secret: apiKey },
});

function writeProgram(folder: string, description: string): void {
  writeFileSync(
    join(folder, "index.js"),
    `const { CloudEndpoint } = require("pulumi-endpoints");
for (let i = 0; i < ${count}; i++) new CloudEndpoint("e" + i, { url: "https://e" + i + ".example.com", description: "${description}" });
`,
  );
}
