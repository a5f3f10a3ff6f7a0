import { expect, onTestFinished, test } from "vitest";
import { Emulator } from "../../sdk/testing";
import { edit, errors, failure, methods, onBothDrivers, PLUGIN, writes } from "./setup";

const shop = (inputs = "") =>
  `new CloudEndpoint("front", { url: "https://shop.example.com", metadata: { a: 1 }, ${inputs} });`;

onBothDrivers("two projects on one account", (start) => {
  const begin = async () => {
    const emulator = await Emulator.start();
    onTestFinished(() => emulator.close());
    /** A project of its own, with its stack `dev`. */
    const project = (projectName: string, program: string, mark: string, provider = "dynamic") =>
      start(program, {
        emulator,
        projectName,
        stackName: "dev",
        env: { ENDPOINTS_PROVIDER: provider },
        config: { "endpoints:mark": mark },
      });
    return { emulator, project };
  };

  test.each(["dynamic", "plugin"])(
    "never both adopt an endpoint by its URL, and an id is the consent (%s)",
    async (provider) => {
      const { emulator, project } = await begin();
      const first = await project("shop", shop(), "platform-team");
      await first.up();
      const [{ id = "" } = {}] = emulator.endpoints;

      const second = await project("other", shop("adopt: true"), "other-team", provider);
      for (const failed of [await failure(second.preview()), await failure(second.up())]) {
        expect(errors(failed).join("\n")).toContain(
          `${id}, which carries the mark of 'front' of the stack shop/dev (platform-team)`,
        );
        expect(writes(failed)).toEqual([]);
      }

      edit(second, shop(`adopt: "${id}"`));
      expect((await second.preview()).text).toMatch(new RegExp(`adopts ${id}, .* and changes its mark`));
      expect(writes(await second.up()).map(({ method }) => method)).toEqual(["PATCH"]);
      await second.refresh({ expectNoChanges: true });
      edit(second, shop());
      expect(methods(await second.up({ expectNoChanges: true }))).toEqual([]);
      expect(writes(await first.destroy())).toEqual([]);
      expect(emulator.endpoints.map((endpoint) => endpoint.id)).toEqual([id]);
    },
  );

  test("are told by an import that the other has the endpoint", async () => {
    const { emulator, project } = await begin();
    await (await project("shop", shop(), "platform-team")).up();
    const [{ id = "" } = {}] = emulator.endpoints;
    const program = `${PLUGIN} new PluginEndpoint("front", { url: "https://shop.example.com", metadata: { a: 1 } }, { import: "${id}" });`;
    const second = await project("other", program, "other-team", "plugin");
    const { diagnostics, requests } = await second.preview();
    expect(diagnostics.map(({ severity, message }) => [severity, message.trim()])).toContainEqual([
      "warning",
      expect.stringMatching(/carries the mark of 'front' of the stack shop\/dev \(platform-team\)/),
    ]);
    expect(requests.every(({ method }) => method === "GET")).toBe(true);
  });
});
