import { createDecipheriv, pbkdf2 } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import type { WireEndpoint } from "../../../provider/api/contract";
import { accountFingerprint } from "../../../provider/endpoint/gone";
import { type ConfigValue, Emulator, type ExportedState } from "../../../sdk/testing";

/*
 * States that released versions wrote, as `pulumi stack export` printed them, with the program and what the service held.
 * A folder for each version. `npm run record:states` writes the one of this version.
 */

export interface RecordedState {
  /** The version of the Pulumi CLI. */
  cli: string;
  program: string;
  config: Record<string, ConfigValue>;
  /** Where the service was. */
  baseUrl: string;
  /** What the service held, newest first. */
  endpoints: WireEndpoint[];
  /** Its secrets are encrypted with the passphrase of the test kit's CLI driver, and meant to be thrown away. */
  state: ExportedState;
}

/** The key that wrote the states. No service knows it. */
export const KEY = "2throwThisKeyAwayAfterTests_aKeyOfNobodyAtAll1";

const versions = readdirSync(import.meta.dirname).filter((name) => /^\d/.test(name));

/** All recorded states: the version, the name, and the file. */
export const recordedStates: { version: string; name: string; file: string }[] = versions.flatMap((version) =>
  readdirSync(join(import.meta.dirname, version)).map((file) => ({
    version,
    name: file.replace(".json", ""),
    file: join(import.meta.dirname, version, file),
  })),
);

export const readState = (file: string): RecordedState => JSON.parse(readFileSync(file, "utf8"));

export function writeState(version: string, name: string, recorded: RecordedState): void {
  const folder = join(import.meta.dirname, version);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(recorded, undefined, 1)}\n`);
}

/** Starts a service that holds the recorded endpoints, and moves the state there. Its secrets are in plain text. */
export async function restored(
  recorded: RecordedState,
  { apiKey = KEY } = {},
): Promise<{ emulator: Emulator; state: ExportedState }> {
  const emulator = await Emulator.start({ apiKey });
  onTestFinished(() => emulator.close());
  const { baseUrl, state, endpoints } = recorded;
  const [before, now] = [baseUrl, emulator.baseUrl].map((url) =>
    accountFingerprint({ baseUrl: url, apiKey: KEY }),
  );
  const moved = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value).replaceAll(baseUrl, emulator.baseUrl).replaceAll(`${before}`, `${now}`));
  for (const endpoint of moved(endpoints).reverse()) emulator.seed({ ...endpoint, type: "cloud" });
  return { emulator, state: moved(await decrypted(state)) };
}

const PASSPHRASE = "only for tests";
const derive = promisify(pbkdf2);

/** The state with its secrets in plain text, as from `pulumi stack export --show-secrets`. */
async function decrypted(state: ExportedState): Promise<ExportedState> {
  const { salt = "" } = (state.deployment.secrets_providers?.state ?? {}) as { salt?: string };
  const [, bytes = ""] = salt.split(":");
  const key = await derive(PASSPHRASE, Buffer.from(bytes, "base64"), 1_000_000, 32, "sha256");
  return JSON.parse(JSON.stringify(state), (_, value) => {
    if (typeof value?.ciphertext !== "string") return value;
    const [, nonce = "", secret = ""] = value.ciphertext.split(":");
    const sealed = Buffer.from(secret, "base64");
    const cipher = createDecipheriv("aes-256-gcm", key, Buffer.from(nonce, "base64"));
    cipher.setAuthTag(sealed.subarray(-16));
    const plaintext = cipher.update(sealed.subarray(0, -16), undefined, "utf8") + cipher.final("utf8");
    return { ...value, ciphertext: undefined, plaintext };
  });
}
