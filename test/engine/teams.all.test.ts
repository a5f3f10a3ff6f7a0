import { expect, onTestFinished, test } from "vitest";
import { Emulator } from "../../sdk/testing";
import { edit, errors, failure, methods, onBothDrivers, PLUGIN, writes } from "./setup";

const shop = (inputs = "") =>
  `new CloudEndpoint("front", { url: "https://shop.example.com", metadata: { a: 1 }, ${inputs} });`;

onBothDrivers("two projects on one account", (start, driver) => {
  const begin = async () => {
    const emulator = await Emulator.start();
    onTestFinished(() => emulator.close());
    /** A project of its own, with its stack `dev`. */
    const project = (projectName: string, program: string, mark: string | undefined, provider = "dynamic") =>
      start(program, {
        emulator,
        projectName,
        stackName: "dev",
        env: { ENDPOINTS_PROVIDER: provider },
        ...(mark && { config: { "endpoints:mark": mark } }),
      });
    return { emulator, project };
  };

  const cases: [provider: string, mark: string | undefined][] = [
    ["dynamic", "other-team"],
    ["plugin", "other-team"],
    ["dynamic", undefined],
    ["plugin", undefined],
  ];
  test.each(driver === "kit" ? cases : cases.slice(0, 1))(
    "never both adopt an endpoint (%s, mark: %s), until one says from whom",
    async (provider, mark) => {
      const { emulator, project } = await begin();
      const first = await project("shop", shop(), "platform-team");
      await first.up();
      const [{ id = "" } = {}] = emulator.endpoints;

      const second = await project("other", shop("adopt: true"), mark, provider);
      const previewed = await failure(second.preview());
      const updated = await failure(second.up());
      const [, from = ""] = /adoptFrom: "([^"]+)"/.exec(errors(previewed).join("\n")) ?? [];
      expect(from).toBe("shop/dev (platform-team)");
      for (const failed of [previewed, updated]) {
        expect(errors(failed).join("\n")).toContain(`${id} carries the mark of front of the stack ${from}`);
        expect(writes(failed)).toEqual([]);
      }

      edit(second, shop(`adopt: true, adoptFrom: "${from}"`));
      expect((await second.preview()).text).toContain(`adopts ${id}, and changes its mark`);
      expect(writes(await second.up()).map(({ method }) => method)).toEqual(["PATCH"]);
      await second.refresh({ expectNoChanges: true });
      edit(second, shop());
      expect(methods(await second.up({ expectNoChanges: true }))).toEqual([]);
      // The project that had the endpoint cannot take it back unawares, if its new owner marks it.
      if (mark === undefined) return;
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
      expect.stringMatching(/carries the mark of front of the stack shop\/dev \(platform-team\)/),
    ]);
    expect(requests.every(({ method }) => method === "GET")).toBe(true);
  });
});
