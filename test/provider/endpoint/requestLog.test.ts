import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../folders";
import { bothProviders, type DrivenProvider, type Props } from "../bothProviders";

/* What the file of ENDPOINTS_LOG says about the resources, on both providers. */

const URN = "urn:pulumi:prod::shop::endpoints:index:CloudEndpoint::shop";
const url = "https://shop.example.com";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe.each(bothProviders)("%s", (name, start) => {
  const isPlugin = name === "the plugin";

  /** The lines of a create, a refresh, an update and a deletion. */
  async function life(
    news: Props,
    settings = {},
  ): Promise<{ id: string; lines: string[]; provider: DrivenProvider }> {
    const file = join(temporaryFolder(), "requests.log");
    vi.stubEnv("ENDPOINTS_LOG", file);
    const provider = await start({ settings });
    const { inputs } = await provider.check({}, news);
    const { id, outs } = await provider.create(inputs);
    await provider.read(id, outs, inputs);
    const changed = await provider.update(id, outs, { ...inputs, description: "CANARY-2" });
    await provider.delete(id, changed.outs);
    return { id, provider, lines: readFileSync(file, "utf8").trimEnd().split("\n") };
  }
  const columns = (lines: string[]) =>
    lines.map((line) => {
      const [, method, id, status, , , , ...resource] = line.split(" ");
      return [method, id, status, resource.join(" ")];
    });

  test("names the URN if it is known, else the URL", async () => {
    const { id, lines } = await life({ url });
    const resource = isPlugin ? expect.stringMatching(/^urn:pulumi:.*::\w+$/) : url;
    expect(columns(lines)).toEqual([
      ["POST", id, "201", resource],
      ["GET", "list", "200", "-"],
      ["PATCH", id, "200", resource],
      ["DELETE", id, "204", resource],
    ]);
  });

  test.skipIf(isPlugin)("names the URN of a marked endpoint", async () => {
    const { lines } = await life({ url, __urn: URN }, { mark: "team/prod" });
    const named = columns(lines).filter(([method]) => method !== "GET");
    expect(named.map(([, , , resource]) => resource)).toEqual([URN, URN, URN]);
  });

  test("shows no secret URL, key, header, query or body", async () => {
    const secret = { url: "https://canary-1.example.com", description: "CANARY-1", __secrets: ["url"] };
    const { lines, provider } = await life(secret);
    expect(lines).toHaveLength(4);
    if (!isPlugin) expect(columns(lines).map(([, , , resource]) => resource)).toContain("[secret]");
    expect(lines.join("\n")).not.toMatch(/canary|bearer|filter|description|\?/i);
    expect(lines.join("\n")).not.toContain(provider.emulator.apiKey);
  });
});
