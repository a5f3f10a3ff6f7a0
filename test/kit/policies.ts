import type { Emulator } from "../../sdk/testing";
import { emulatedService } from "../emulatedService";

/** Starts an emulator with cloud endpoints. */
export async function startEmulator(policies: Record<string, unknown>): Promise<Emulator> {
  const emulator = await emulatedService();
  for (const [url, policy] of Object.entries(policies))
    emulator.seed({ type: "cloud", url, traffic_policy: JSON.stringify(policy) });
  return emulator;
}
