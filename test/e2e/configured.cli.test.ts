import { expect, test } from "vitest";
import { emulatedService } from "../emulatedService";
import { Backend, cli } from "../projects";

/* Pulumi runs no program for a refresh or a `destroy`, and has a dynamic provider's settings, and a `Provider`'s, from the state. */

const shop = `("shop", { url: "https://shop.example.com" }`;
const explicit = `const baseUrl = new pulumi.Config("endpoints").require("baseUrl");
  new endpoints.CloudEndpoint${shop}, { provider: new endpoints.Provider("own", { baseUrl }) });`;
test.skipIf(!cli).each<[string, used: "old" | "new", program: string]>([
  ["dynamic provider", "old", `new CloudEndpoint${shop});`],
  ["plugin", "new", `new endpoints.CloudEndpoint${shop});`],
  ["plugin with a provider of its own", "old", explicit],
])(
  "after a change of the configured base URL, the %s refreshes and destroys with the %s one, until `refresh --run-program`",
  async (_, used, program) => {
    const emulator = await emulatedService({});
    const { host } = new URL(emulator.baseUrl);
    const hosts = { old: host, new: host.replace("127.0.0.1", "localhost") };
    const stack = await new Backend(emulator).project(program, { environment: { ENDPOINTS_BASE_URL: "" } });
    const configure = (host: string) => stack.pulumi("config", "set", "endpoints:baseUrl", `http://${host}`);
    /** The hosts that a command asks. */
    const asked = async (...command: string[]) => {
      const before = emulator.requests.length;
      await stack.pulumi(...command, "--yes", "--skip-preview");
      return [...new Set(emulator.requests.slice(before).map(({ headers }) => headers["host"]))];
    };
    await configure(hosts.old);
    expect(await asked("up")).toEqual([hosts.old]);
    await configure(hosts.new);
    expect(await asked("refresh")).toEqual([hosts[used]]);
    expect(await asked("refresh", "--run-program")).toEqual([hosts.new]);
    expect(await asked("refresh")).toEqual([hosts.new]);
    await configure(hosts.old);
    expect(await asked("destroy")).toEqual([used === "old" ? hosts.new : hosts.old]);
    expect(emulator.endpoints).toEqual([]);
  },
);
