import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../folders";
import { onBothDrivers } from "./setup";

const program = `new CloudEndpoint("shop", { url: "https://shop.example.com", description: "CANARY" });`;

onBothDrivers("the log of requests", (start, driver) => {
  describe.each(["dynamic", "plugin"])("with the provider %s", (provider) => {
    const line = (request: string) =>
      expect.stringMatching(new RegExp(`^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z ${request} \\d+ms -$`));

    test("has a line for each request in a file", async () => {
      const file = join(temporaryFolder(), "requests.log");
      const stack = await start(program, { env: { ENDPOINTS_LOG: file, ENDPOINTS_PROVIDER: provider } });
      await stack.up();
      const [endpoint] = stack.emulator.endpoints;
      await stack.destroy();
      const lines = readFileSync(file, "utf8").trimEnd().split("\n");
      expect(lines).toEqual([line("POST /endpoints 201"), line(`DELETE /endpoints/${endpoint?.id} 204`)]);
    });

    test.skipIf(driver === "kit")("has one message of Pulumi for each request", async () => {
      const env = { ENDPOINTS_LOG: "requests", ENDPOINTS_PROVIDER: provider };
      const stack = await start(program, { env });
      const { diagnostics } = await stack.up();
      const messages = diagnostics.map(({ message }) => message.trim());
      expect(messages.filter((message) => message.startsWith("endpoints: "))).toEqual([
        expect.stringMatching(/^endpoints: \S+Z POST \/endpoints 201 \d+ms -$/),
      ]);
    });
  });
});
