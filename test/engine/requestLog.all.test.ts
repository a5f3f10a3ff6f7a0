import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../folders";
import { onBothDrivers } from "./setup";

const program = `new CloudEndpoint("shop", { url: "https://shop.example.com", description: "CANARY" });`;

onBothDrivers("the log of requests", (start, driver) => {
  describe.each([
    ["dynamic", "https://shop.example.com"],
    ["plugin", /^urn:pulumi:\S+::endpoints:index:CloudEndpoint::shop$/],
  ])("with the provider %s", (provider, resource) => {
    const line = (method: string, id: unknown, status: number) =>
      new RegExp(`^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z ${method} ${id} ${status} - - \\d+ms (\\S+)$`);

    test("has a line for each request in a file", async () => {
      const file = join(temporaryFolder(), "requests.log");
      const stack = await start(program, { env: { ENDPOINTS_LOG: file, ENDPOINTS_PROVIDER: provider } });
      await stack.up();
      const [endpoint] = stack.emulator.endpoints;
      await stack.destroy();
      const lines = readFileSync(file, "utf8").trimEnd().split("\n");
      expect(lines).toEqual([
        expect.stringMatching(line("POST", endpoint?.id, 201)),
        expect.stringMatching(line("DELETE", endpoint?.id, 204)),
      ]);
      for (const one of lines) expect(one.split(" ").at(-1)).toMatch(resource);
    });

    test.skipIf(driver === "kit")("has one message of Pulumi for each request", async () => {
      const env = { ENDPOINTS_LOG: "requests", ENDPOINTS_PROVIDER: provider };
      const stack = await start(program, { env });
      const { diagnostics } = await stack.up();
      const messages = diagnostics.map(({ message }) => message.trim());
      expect(messages.filter((message) => message.startsWith("endpoints: "))).toEqual([
        expect.stringMatching(/^endpoints: \S+Z POST ep_\w+ 201 - - \d+ms \S+$/),
      ]);
    });
  });
});
