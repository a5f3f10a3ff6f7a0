import { expect, onTestFinished, test } from "vitest";
import { Emulator } from "../../sdk/testing";
import { edit, errors, failure, onBothDrivers, writes } from "./setup";

const shop = (adopt = "undefined") =>
  `new CloudEndpoint("front", { url: "https://shop.example.com", metadata: { a: 1 }, adopt: ${adopt} });`;

onBothDrivers("two projects on one account", (start) => {
  test("never both adopt an endpoint by its URL, and an id is the consent", async () => {
    const emulator = await Emulator.start();
    onTestFinished(() => emulator.close());
    /** A project of its own, with its stack `dev`. */
    const project = (projectName: string, program: string, provider: string) =>
      start(program, {
        emulator,
        projectName,
        stackName: "dev",
        env: { ENDPOINTS_PROVIDER: provider },
        config: { "endpoints:mark": `${projectName}-team` },
      });
    const first = await project("shop", shop(), "dynamic");
    await first.up();
    const [{ id = "" } = {}] = emulator.endpoints;

    const second = await project("other", shop("true"), "plugin");
    const refused = await failure(second.preview());
    expect(errors(refused).join("\n")).toContain(
      `${id}, which carries the mark of 'front' of the stack shop/dev (shop-team)`,
    );
    expect(writes(refused)).toEqual([]);
    edit(second, shop(JSON.stringify(id)));
    const up = await second.up({ skipPreview: false });
    expect(up.text).toMatch(new RegExp(`adopts ${id}, .* and changes its mark`));
    expect(writes(up).map(({ method }) => method)).toEqual(["PATCH"]);

    expect(writes(await first.destroy())).toEqual([]);
    expect(emulator.endpoints.map((endpoint) => endpoint.id)).toEqual([id]);
  });
});
