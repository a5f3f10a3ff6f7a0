import { existsSync, readFileSync, renameSync } from "node:fs";
import { z } from "zod";
import { isMapping } from "../../provider/data/index";
import type { Emulator, Seed } from "../testing/emulator";
import { UsageError } from "./command";
import { writeText } from "./options";

/* What `emulator --state` keeps between its runs, so that stacks stay valid: address, key and endpoints. */

const isSeed = (value: unknown) =>
  isMapping(value) &&
  typeof value["id"] === "string" &&
  ["cloud", "ephemeral", "edge"].includes(`${value["type"]}`);

const stateSchema = z.object({
  port: z.int().min(1).max(65_535),
  apiKey: z.string().min(1),
  /** Newest first. */
  endpoints: z.array(z.custom<Seed>(isSeed)),
});

/**
 * The state in the file; undefined if there is none.
 *
 * @throws UsageError if the file contains something else.
 */
export function readState(file: string): z.output<typeof stateSchema> | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return stateSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    throw new UsageError(`${file} is no state of the emulator; delete it, or give another file`);
  }
}

/** Replaces the file as a whole, so that a killed emulator leaves the former state. Only the user may read the key. */
export function writeState(file: string, { baseUrl, apiKey, endpoints }: Emulator): void {
  const port = Number(new URL(baseUrl).port);
  writeText(`${file}.new`, `${JSON.stringify({ port, apiKey, endpoints }, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
