import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { z } from "zod";

/** The folder of the package. */
export const root = join(import.meta.dirname, "..", "..");

const packed = z.tuple([
  z.object({
    filename: z.string(),
    size: z.number(),
    unpackedSize: z.number(),
    files: z.array(z.object({ path: z.string() })),
  }),
]);

export type Packed = z.output<typeof packed>[0] & { tarball: string };

/** Packs the package, as a release does, into a folder outside of the repository. Needs `npm run build`. */
export function pack(into: string): Packed {
  // Without the scripts, which would replace dist while other tests use it.
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", into];
  const output = execFileSync("npm", args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [result] = packed.parse(JSON.parse(output));
  return { ...result, tarball: join(into, result.filename) };
}
