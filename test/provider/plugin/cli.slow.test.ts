import { afterEach, expect, test, vi } from "vitest";
import { emulatedService } from "../../emulatedService";
import { Backend, cli } from "../../projects";

const live = {
  type: "cloud" as const,
  url: "https://shop.example.com",
  traffic_policy: '{"on_http_request":[{"actions":[{"type":"deny","config":{"status_code":404}}]}]}',
  metadata: '{"team":"shop"}',
};
const skipPreview = ["--yes", "--skip-preview"];

afterEach(() => vi.unstubAllEnvs());

test.skipIf(!cli)(
  "with the Pulumi CLI, the plugin imports an endpoint, and the code that Pulumi prints causes no change",
  async () => {
    const emulator = await emulatedService();
    const { id } = emulator.seed(live);
    const stack = await new Backend(emulator).project("");
    const { stdout } = await stack.pulumi(
      "import",
      "endpoints:index:CloudEndpoint",
      "web",
      id,
      ...skipPreview,
    );
    expect(stdout).toContain('import * as endpoints from "pulumi-endpoints";');
    const [, code = ""] = /(const web = [\s\S]*?\n\}\);)/.exec(stdout) ?? [];

    stack.edit(code);
    await stack.pulumi("up", ...skipPreview, "--expect-no-changes");
    await stack.pulumi("refresh", ...skipPreview, "--expect-no-changes");
    expect(emulator.requests.every(({ method }) => method === "GET")).toBe(true);
  },
);

test.skipIf(!cli).each(["dynamic", "plugin"])(
  "with the Pulumi CLI and the %s provider, no output or state shows the account's own key in a policy, and it is never changed",
  async (provider) => {
    const emulator = await emulatedService();
    const policyWith = (name: string) =>
      JSON.stringify({
        on_http_request: [
          { actions: [{ type: "add-headers", config: { headers: { [name]: `of ${emulator.apiKey}` } } }] },
        ],
      });
    const theirs = emulator.seed({ ...live, traffic_policy: policyWith("x-theirs") }).id;
    const stack = await new Backend(emulator).project("");
    await stack.pulumi("config", "set", "endpoints:provider", provider);
    const programOf = (description: string) => `
      const own = require("pulumi-endpoints");
      const url = "https://own.example.com";
      const trafficPolicy = JSON.parse(process.env.POLICY);
      const made = new own.CloudEndpoint("own", { url, trafficPolicy });
      const theirs = { url: "${live.url}", adopt: "${theirs}", description: "${description}", metadata: { team: "shop" } };
      new own.CloudEndpoint("theirs", theirs);
      exports.read = own.getEndpointOutput({ id: made.id }).trafficPolicy;
    `;
    const shown: string[] = [];
    const run = async (...args: string[]) => {
      const { stdout, stderr } = await stack.pulumi(...args);
      shown.push(stdout, stderr);
    };
    vi.stubEnv("POLICY", policyWith("x-own"));
    for (const description of ["one", "two"]) {
      stack.edit(programOf(description));
      await run("up", "--yes", "--diff");
      await run("refresh", "--yes", "--diff");
      await run("preview", "--diff", "--expect-no-changes");
    }
    const edited = emulator.endpoints.find(({ url }) => url === "https://own.example.com");
    emulator.edit(String(edited?.id), { traffic_policy: policyWith("x-edited") });
    const drift = await stack.command("drift", "--stack", "test");
    expect(drift.stdout).toContain("x-edited");
    shown.push(drift.stdout, drift.stderr);
    await run("preview", "--diff", "--refresh");
    await run("refresh", "--yes", "--diff");
    shown.push((await stack.state()).text);
    await run("up", "--yes", "--diff");
    await run("preview", "--diff", "--expect-no-changes");
    shown.push((await stack.state()).text);

    const policies = emulator.endpoints.map(({ traffic_policy }) => JSON.parse(traffic_policy ?? ""));
    for (const name of ["x-own", "x-theirs"]) expect(policies).toContainEqual(JSON.parse(policyWith(name)));
    for (const text of shown) expect(text).not.toContain(emulator.apiKey);
    expect(shown.join("")).not.toContain("[key]");
  },
);
