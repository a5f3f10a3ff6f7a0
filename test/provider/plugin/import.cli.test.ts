import { expect, test } from "vitest";
import { emulatedService } from "../../emulatedService";
import { Backend, cli } from "../../projects";

const live = {
  type: "cloud" as const,
  url: "https://shop.example.com",
  traffic_policy: '{"on_http_request":[{"actions":[{"type":"deny","config":{"status_code":404}}]}]}',
  metadata: '{"team":"shop"}',
};
const skipPreview = ["--yes", "--skip-preview"];

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
