import { describe, expect, test } from "vitest";
import { methods } from "../../requests";
import { bothProviders } from "../bothProviders";

/* Deletions in one process: what lists they read in search of new marks. `test/scenes` has the rest about owners. */

const at = (name: string) => `https://${name}.example.com`;
const urnOf = (name: string) => `urn:pulumi:stack::project::endpoints:index:CloudEndpoint::${name}`;

describe.each(bothProviders)("%s: the deletion of an entry", (_, start) => {
  /** Endpoints of an earlier run, and new processes of the provider. */
  async function stack(...names: string[]) {
    const first = await start({ settings: { mark: "our-team" } });
    const entries = new Map(
      await Promise.all(
        names.map(async (name) => {
          const urn = urnOf(name);
          return [name, await first.of(urn).create({ url: at(name), __urn: urn })] as const;
        }),
      ),
    );
    const adopt = async (name: string) => {
      const urn = urnOf(`new-${name}`);
      await (await first.restart()).of(urn).create({ url: at(name), adopt: true, __urn: urn });
    };
    const run = await first.restart();
    const remove = async (name: string) => {
      const { id = "", outs = {} } = entries.get(name) ?? {};
      await run.delete(id, outs);
    };
    const live = () => run.emulator.endpoints.map(({ url }) => url).sort();
    return { run, entries, adopt, remove, live };
  }

  test("without a token deletes its endpoint, also after an update in the same process", async () => {
    const { run, entries, live } = await stack("a");
    const { id = "", outs: { __entry, ...outs } = {} } = entries.get("a") ?? {};
    const updated = await run.update(id, outs, { url: at("a"), description: "x" });
    await run.delete(id, updated.outs);
    expect(live()).toEqual([]);
  });

  test("shares one list with others", async () => {
    const { run, adopt, remove, live } = await stack("a", "b", "c");
    for (const name of ["a", "b"]) await adopt(name);
    const before = run.emulator.requests.length;
    for (const name of ["a", "b", "c"]) await remove(name);
    expect(live()).toEqual([at("a"), at("b")]);
    // What an old item gives to another resource is read by id.
    expect(methods(run.emulator).slice(before)).toEqual(["GET", "GET", "GET", "DELETE"]);
  });

  test("reads the list again after five minutes", async () => {
    const { run, adopt, remove, live } = await stack("a", "b");
    await remove("a");
    await run.clock.sleep(301_000);
    await adopt("b");
    await remove("b");
    expect(live()).toEqual([at("b")]);
  });

  test("sees a take-over that came after the last reading of the list", async () => {
    const { run, entries, adopt, remove, live } = await stack("a");
    const { id = "", outs = {} } = entries.get("a") ?? {};
    await run.read(id, outs, { url: at("a") });
    await adopt("a");
    await remove("a");
    expect(live()).toEqual([at("a")]);
  });

  test("sees a take-over that came after the deletion of a replaced resource", async () => {
    const { run, adopt, remove, live } = await stack("replaced", "a");
    await run.check({ url: at("replaced") }, { url: at("replaced") });
    await remove("replaced");
    await adopt("a");
    await remove("a");
    expect(live()).toEqual([at("a")]);
  });
});
