import { afterEach } from "vitest";
import { HttpClient } from "../../provider/api/client";
import { type Clock, realClock } from "../../provider/api/clock";
import type { LiveEndpoint } from "../../provider/api/contract";
import type { EndpointsApi } from "../../provider/api/endpoints";
import type { Reading } from "../../provider/api/list";
import { readSettings } from "../../provider/api/settings";
import { endpointsApi } from "../../provider/endpoint/fields";
import { CloudEndpoints } from "../../provider/endpoint/resource";
import { Emulator, type EmulatorOptions } from "../../sdk/testing/emulator";

/** An API key that no message, log or state may contain. */
export const CANARY_KEY = "2canaryCanaryCanaryCanary27_canaryCanaryCanary021";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

interface Options extends EmulatorOptions {
  settings?: Record<string, string>;
  /** How far the service's clock is ahead of ours, in milliseconds. */
  ahead?: number;
  /** Runs after each wait of the client, which takes no time. */
  sleep?: () => Promise<void>;
  engineIsThere?: () => Promise<boolean>;
}

/** Starts the emulated service, and creates a real client for it and the provider's core. The client's waits take no time. */
export async function service({ ahead = 0, sleep, engineIsThere, ...options }: Options = {}) {
  // Start early in a second, so that whole seconds show in which one a create was sent.
  let late = 1_200 - (Date.now() % 1_000);
  // The emulator has the same clock, because time must pass for it too during a wait.
  const now = () => Date.now() + late;
  const emulator = await Emulator.start({
    apiKey: CANARY_KEY,
    now: () => new Date(now() + ahead),
    ...options,
  });
  const config: Record<string, string> = {
    "endpoints:apiKey": emulator.apiKey,
    "endpoints:baseUrl": emulator.baseUrl,
    ...options.settings,
  };
  const waits: number[] = [];
  const logged: string[] = [];
  const clock: Clock = {
    ...realClock,
    now,
    sleep: async (milliseconds) => {
      waits.push(milliseconds);
      late += milliseconds;
      await sleep?.();
    },
  };
  open.push(emulator);
  /** Starts a new process of the provider. Pulumi starts one for each phase of a command. */
  const newProcess = (environment: NodeJS.ProcessEnv = {}) => {
    const settings = readSettings((key) => config[key], environment);
    const write = (message: string) => void logged.push(message);
    const log = { info: write, warn: write };
    const http = new HttpClient(settings, { clock, log, ...(engineIsThere && { engineIsThere }) });
    const api = endpointsApi(http);
    open.push(http);
    const connect = () => api;
    return { api, connect, log, core: new CloudEndpoints({ connect, log }) };
  };
  return { emulator, ...newProcess(), newProcess, logged, waits, clock };
}

/** Reads the whole list of the account, and shares no earlier reading. */
export async function wholeList({
  http,
}: EndpointsApi): Promise<{ endpoints: LiveEndpoint[]; skipped: Reading["skipped"] }> {
  const reading = endpointsApi(http).list.whole(0);
  await reading.toEnd();
  return { endpoints: [...reading.endpoints.values()], skipped: reading.skipped };
}

/** The error of a rejected promise. Throws if the promise is fulfilled. */
export async function thrown(promise: Promise<unknown>): Promise<Error> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Error) return error;
  throw new Error("expected a rejection");
}
