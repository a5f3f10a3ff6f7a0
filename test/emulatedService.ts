import { onTestFinished } from "vitest";
import { Emulator, type EmulatorOptions } from "../sdk/testing/emulator";

/** Starts an emulated service, which ends with the test. */
export async function emulatedService(options?: EmulatorOptions): Promise<Emulator> {
  const emulator = await Emulator.start(options);
  onTestFinished(() => emulator.close());
  return emulator;
}
