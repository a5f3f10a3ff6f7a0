import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { Emulator, findPulumiCli, type RunResult, TestStack } from "../../sdk/testing";
import { newProject } from "../folders";

/*
 * Real processes create, update and delete many endpoints, and stay within a small budget of requests. The test prints each
 * command's time, and the least time that the budget allows. A longer run: npm run test:faults -- --budget 200
 */
const count = Number(process.env["BUDGET_ENDPOINTS"] ?? 40);
const isLong = process.env["BUDGET_ENDPOINTS"] !== undefined;
const requests = isLong ? 120 : 25;
const windowSeconds = isLong ? 60 : 1;
const cli = await findPulumiCli();

describe.each(["kit", "cli"] as const)("with the driver %s", (driver) => {
  const run = driver === "cli" && !cli ? test.skip : test;

  run(
    `${count} endpoints are created, updated and deleted within ${requests} requests in ${windowSeconds} s`,
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

      /** Runs a command after the window of the last command's requests. */
      const measure = async (name: string, command: () => Promise<RunResult>) => {
        await new Promise((resolve) => setTimeout(resolve, times.length > 0 ? windowSeconds * 1000 : 0));
        times.length = 0;
        await command();
        const took = (times.at(-1) ?? 0) - (times[0] ?? 0);
        const least = (Math.ceil(times.length / requests) - 1) * windowSeconds * 1000;
        rows.push(
          `${driver}, ${name}: ${times.length} requests in ${(took / 1000).toFixed(1)} s, at least ${least / 1000} s`,
        );
      };

      await measure("up", () => stack.up({ skipPreview: true }));
      expect((await stack.preview({ expectNoChanges: true })).requests).toEqual([]);
      writeProgram(folder, "changed");
      await measure("up, all changed", () => stack.up({ skipPreview: true }));
      expect(new Set(emulator.endpoints.map(({ description }) => description))).toEqual(new Set(["changed"]));
      await measure("destroy", () => stack.destroy());
      expect(emulator.endpoints).toEqual([]);
      // The service enforces the budget, and refused no request.
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
