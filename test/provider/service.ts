import { afterEach } from "vitest";
import { EndpointsApi } from "../../provider/api/endpoints";
import { type Clock, HttpClient, realClock } from "../../provider/api/http";
import { CloudEndpoints } from "../../provider/cloudEndpoint";
import { readSettings } from "../../provider/config";
import { Emulator, type EmulatorOptions } from "../../sdk/testing/emulator";

/** A key that no message, log or state may ever hold. */
export const CANARY_KEY = "2canaryCanaryCanaryCanary27_canaryCanaryCanary021";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** The service on loopback, a real client of it whose waits take no time, and the provider's core. */
export async function service(options: EmulatorOptions & { settings?: Record<string, string> } = {}) {
  const emulator = await Emulator.start({ apiKey: CANARY_KEY, ...options });
  const config: Record<string, string> = {
    "endpoints:apiKey": emulator.apiKey,
    "endpoints:baseUrl": emulator.baseUrl,
    ...options.settings,
  };
  const waits: number[] = [];
  const said: string[] = [];
  let late = 0;
  const clock: Clock = {
    ...realClock,
    now: () => Date.now() + late,
    sleep: async (milliseconds) => {
      waits.push(milliseconds);
      late += milliseconds;
    },
  };
  const http = new HttpClient(
    readSettings((key) => config[key], {}),
    { clock, say: (message) => said.push(message) },
  );
  const api = new EndpointsApi(http);
  const core = new CloudEndpoints({ api: () => api, say: (message) => said.push(message) });
  open.push(emulator, http);
  return { emulator, api, core, said, waits };
}

/** What a promise was rejected with; fails where it was not. */
export async function thrown(promise: Promise<unknown>): Promise<Error> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Error) return error;
  throw new Error("this was to fail, and did not");
}
