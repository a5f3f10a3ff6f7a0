import { describe, expect, test } from "vitest";
import { cli, project, service } from "./pulumi";

const url = "https://shop.example.com";
const rules = (status: number) => ({
  on_http_request: [{ actions: [{ type: "log" }, { type: "deny", config: { status_code: status } }] }],
});
const live = {
  type: "cloud" as const,
  url,
  traffic_policy: JSON.stringify(rules(404)),
  metadata: '{"team":"shop"}',
};
const TYPE = "endpoints:index:CloudEndpoint";
const skipPreview = ["--yes", "--skip-preview"];

describe.skipIf(!cli)("with the Pulumi CLI, the plugin", () => {
  test("imports an endpoint, and the code that Pulumi prints causes no change", async () => {
    const emulator = await service();
    const { id } = emulator.seed(live);
    const stack = await project("", { emulator });
    const { stdout } = await stack.pulumi("import", TYPE, "web", id, ...skipPreview);
    expect(stdout).toContain('import * as endpoints from "pulumi-endpoints";');
    const [, code = ""] = /(const web = [\s\S]*?\n\}\);)/.exec(stdout) ?? [];

    stack.edit(code);
    await stack.pulumi("up", ...skipPreview, "--expect-no-changes");
    await stack.pulumi("refresh", ...skipPreview, "--expect-no-changes");
    expect(emulator.requests.every(({ method }) => method === "GET")).toBe(true);
  });

  test("reads missing settings of an explicit provider from the stack, then from the environment", async () => {
    const [emulator, ambient] = [await service(), await service()];
    const program = `
      const other = new endpoints.Provider("other", { requestsPerWindow: "1000" });
      new endpoints.CloudEndpoint("shop", { url: "${url}" }, { provider: other });
    `;
    const environment = { ENDPOINTS_API_KEY: emulator.apiKey, ENDPOINTS_BASE_URL: ambient.baseUrl };
    const config = { "endpoints:baseUrl": emulator.baseUrl };
    const stack = await project(program, { environment, config });
    await stack.pulumi("up", ...skipPreview);
    expect(emulator.endpoints).toHaveLength(1);
    expect(ambient.requests).toEqual([]);
    expect((await stack.state()).text).not.toContain(emulator.apiKey);
  });

  test("refreshes and destroys with the stack's current key, and not with that of the last up", async () => {
    const emulator = await service();
    const stack = await project(`new endpoints.CloudEndpoint("shop", { url: "${url}" });`, { emulator });
    await stack.pulumi("up", ...skipPreview);
    const [endpoint] = emulator.endpoints;
    const moved = await service({ apiKey: "new_key" });
    moved.seed({ ...endpoint, type: "cloud" });
    await stack.setConfig("endpoints:baseUrl", moved.baseUrl);
    await stack.setConfig("endpoints:apiKey", { secret: "new_key" });
    const before = emulator.requests.length;
    await stack.pulumi("refresh", ...skipPreview);
    await stack.pulumi("destroy", ...skipPreview);
    expect(moved.requests.map(({ method, status }) => [method, status])).toEqual([
      ["GET", 200],
      ["DELETE", 204],
    ]);
    expect(emulator.requests).toHaveLength(before);
  });

  test("accuses no component that a mistake elsewhere cancels of a closed connection", async () => {
    const program = `
      class Verification extends pulumi.ComponentResource {
        constructor(name) { super("endpoints:index:WebhookVerification", name, { platform: "github", secret: "s3cret" }, {}, true); }
      }
      new endpoints.CloudEndpoint("mistaken", { url: "nonsense" });
      for (let index = 0; index < 10; index++) new Verification("innocent-" + index);
    `;
    const stack = await project(program, { emulator: await service() });
    const { code, stdout } = await stack.attempt("preview");
    expect(code).not.toBe(0);
    expect(stdout).toMatch(/resource 'mistaken' has a problem: url is not a URL/);
    const accused = stdout.match(/'innocent-\d' has a problem: .*/g) ?? [];
    expect(accused.length).toBeGreaterThan(0);
    for (const problem of accused) expect(problem).toMatch(/ problem: cancelled, because the run ended$/);
  });
});
