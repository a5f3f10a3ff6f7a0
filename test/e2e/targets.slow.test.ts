import { expect, test } from "vitest";
import { edit, methods, onBothDrivers, writes } from "./setup";

const program = (greeting: string) => `
const policy = (body) => ({ on_http_request: [{ actions: [{ type: "custom-response", config: { status_code: 200, body } }] }] });
const shop = new CloudEndpoint("shop", { url: "https://shop.example.com", trafficPolicy: policy("hello") });
const vault = new CloudEndpoint("vault", { url: "https://vault.example.com", trafficPolicy: pulumi.secret(policy("CANARY")) });
new CloudEndpoint("other", { url: "https://other.example.com", trafficPolicy: policy("${greeting}"), metadata: shop.id });
module.exports = { shop: shop.id, vault: vault.id };
`;
const urnOf = (name: string) =>
  `urn:pulumi:test::case::pulumi-nodejs:dynamic/endpoints:CloudEndpoint::${name}`;

onBothDrivers("a run with targets", (start) => {
  test("refreshes, updates and creates only the targets, after a refresh preview that changes nothing", async () => {
    const stack = await start(program("hello"));
    const { shop, vault } = (await stack.up()).outputs as { shop: string; vault: string };
    const other = stack.emulator.endpoints.find(({ url }) => url === "https://other.example.com")?.id ?? "";
    for (const id of [vault, other]) stack.emulator.edit(id, { description: "by hand" });
    stack.emulator.remove(shop);

    const before = await stack.exportState();
    const refreshPreview = await stack.refresh({ previewOnly: true });
    expect((await stack.exportState()).deployment.resources).toEqual(before.deployment.resources);
    expect(refreshPreview.steps.map(({ op, name }) => `${op} ${name}`).sort()).toEqual([
      "delete shop",
      "update other",
      "update vault",
    ]);
    const drifted = refreshPreview.steps.find(({ name }) => name === "vault");
    expect(drifted?.outputs).toMatchObject({ description: "by hand", trafficPolicy: "[secret]" });
    expect(JSON.stringify(refreshPreview)).not.toContain("CANARY");

    edit(stack, program("bye"));
    const targets = ["shop", "vault"].map(urnOf);
    const preview = await stack.preview({ target: targets });
    expect(preview.changes).toEqual({ same: 4 });

    const up = await stack.up({ refresh: true, target: targets });
    expect(
      writes(up)
        .map(({ method, path }) => `${method} ${path}`)
        .sort(),
    ).toEqual([`PATCH /endpoints/${vault}`, "POST /endpoints"]);
    expect(up.changes).toEqual({ create: 1, update: 1, same: 2 });

    const next = await stack.up();
    expect(methods(next)).toEqual(["PATCH"]);
  });
});

onBothDrivers("up --refresh", (start) => {
  test.each(["dynamic", "plugin"])(
    "of the %s provider restores edited and deleted endpoints, with one list, and another if the deleted one is younger than five seconds",
    async (provider) => {
      const endpoints = `for (const name of ["a", "b", "c"])
  new CloudEndpoint(name, { url: "https://" + name + ".example.com", description: "ours" });`;
      const stack = await start(endpoints, { env: { ENDPOINTS_PROVIDER: provider } });
      await stack.up();
      const [edited, deleted] = stack.emulator.endpoints.map(({ id }) => id);
      stack.emulator.edit(edited ?? "", { description: "by hand" });
      stack.emulator.remove(deleted ?? "");
      expect(methods(await stack.up())).toEqual([]);
      const { requests } = await stack.up({ refresh: true });
      const sent = (wanted: string) =>
        requests.filter(({ method, path }) => path === "/endpoints" && method === wanted).length;
      expect(sent("POST")).toBe(1);
      expect([1, 2]).toContain(sent("GET"));
      expect(requests.filter(({ method }) => method === "PATCH").map(({ body }) => body)).toEqual([
        { id: edited, description: "ours" },
      ]);
      expect(stack.emulator.endpoints.map(({ description }) => description)).toEqual([
        "ours",
        "ours",
        "ours",
      ]);
      await stack.refresh({ expectNoChanges: true });
    },
  );
});
