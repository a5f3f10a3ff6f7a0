import { expect, test } from "vitest";
import { emulatedService } from "../emulatedService";
import { Backend, cli } from "../projects";

/* Lists of endpoints by index that grow at their front, so that each endpoint but the last one moves to its neighbour's URL. */

const urls = (length: number) => Array.from({ length }, (_, index) => `https://e${index}.example.com`);

const programOf = (all: string[]) =>
  `${JSON.stringify(all)}.forEach((url, index) => new CloudEndpoint("e" + index, { url }));`;

test.skipIf(!cli).each([
  ["dynamic", 6, 1, []],
  // With fewer at once, those that wait may leave no place for the first that can move.
  ["plugin", 12, 3, ["--parallel", "16"]],
] as const)(
  "with the Pulumi CLI and the %s provider, a list of %i grows at its front in at most %i runs, each further than the last",
  async (provider, length, most, options) => {
    const emulator = await emulatedService();
    const before = urls(length);
    const after = ["https://new.example.com", ...before];
    const environment = { ENDPOINTS_PROVIDER: provider };
    const stack = await new Backend(emulator).project(programOf(before), { environment });
    await stack.up();
    const ids = await stack.ids();
    stack.edit(programOf(after));
    const inPlace = async () => {
      const names = new Map((await stack.endpoints()).map(({ id, urn }) => [id, urn.replace(/.*::e/, "")]));
      return emulator.endpoints.filter(({ id, url }) => url === after[Number(names.get(id))]).length;
    };
    let done = 0;
    for (let run = 1; done < after.length; run++) {
      expect(run).toBeLessThanOrEqual(most);
      const shown = await stack.sh(`pulumi up ${options.join(" ")}`).catch(({ message }: Error) => message);
      const failures = shown.split("\n").filter((line) => /cannot (create|update)/.test(line));
      for (const failure of failures) expect(failure).toMatch(/run the command again/);
      const now = await inPlace();
      expect(now).toBeGreaterThan(done);
      done = now;
    }
    expect(emulator.endpoints).toHaveLength(length + 1);
    expect(await stack.ids()).toEqual(expect.arrayContaining(ids));
  },
);
