import { expect, onTestFinished } from "vitest";
import { endpointParsers } from "../../provider/endpoint/fields";
import { CloudEndpoints } from "../../provider/endpoint/resource";
import { HttpClient } from "../../provider/service/client";
import type { Clock } from "../../provider/service/clock";
import type { Endpoint } from "../../provider/service/contract";
import { EndpointsApi } from "../../provider/service/endpoints";
import type { Listing } from "../../provider/service/list";
import { readSettings } from "../../provider/service/settings";
import type { Emulator, EmulatorOptions } from "../../sdk/testing/emulator";
import { emulatedService } from "../emulatedService";
import { tooLong } from "../messages";
import { virtualClock } from "./virtualClock";

/* An emulated service for a provider, with a shared clock. The service ends with the test. */

/** An API key that no message, log or state may contain. */
export const CANARY_KEY = "2canaryCanaryCanaryCanary27_canaryCanaryCanary021";

/** Starts the emulated service. */
export function startEmulator(clock: Clock, options: EmulatorOptions = {}): Promise<Emulator> {
  return emulatedService({ apiKey: CANARY_KEY, now: () => new Date(clock.now()), ...options });
}

interface Options extends EmulatorOptions {
  /** The stack's settings other than the service's address and key. */
  settings?: Record<string, string>;
  /** The duration of all requests so far, in milliseconds. The clock itself stands still during requests. */
  taken?: () => number;
  /** Runs after each wait of the client. */
  sleep?: () => Promise<void>;
  isEngineAlive?: () => Promise<boolean>;
}

/** Starts the emulated service, and creates a real client for it and the provider's core. */
export async function service({
  taken = () => 0,
  sleep,
  isEngineAlive,
  settings: given,
  ...options
}: Options = {}) {
  const virtual = virtualClock();
  const now = () => virtual.now() + taken();
  const emulator = await startEmulator({ ...virtual, now }, options);
  const config: Record<string, string> = {
    apiKey: emulator.apiKey,
    baseUrl: emulator.baseUrl,
    ...given,
  };
  const waits: number[] = [];
  const logged: string[] = [];
  onTestFinished(() => expect(tooLong(logged)).toEqual([]));
  const clock: Clock = {
    ...virtual,
    now,
    sleep: async (milliseconds) => {
      waits.push(milliseconds);
      await virtual.sleep(milliseconds);
      await sleep?.();
    },
  };
  /** Starts a new process of the provider. Pulumi starts one for each phase of a command. */
  const newProcess = (environment: NodeJS.ProcessEnv = {}, own: Record<string, string> = {}) => {
    const all = { ...config, ...own };
    const settings = readSettings((key) => all[key.replace("endpoints:", "")], environment);
    const write = (message: string) => void logged.push(message);
    const log = { info: write, warn: write };
    const http = new HttpClient(settings, { clock, log, ...(isEngineAlive && { isEngineAlive }) });
    const api = new EndpointsApi(http, endpointParsers);
    onTestFinished(() => http.close());
    const connect = () => api;
    return { api, connect, log, core: new CloudEndpoints({ connect, log }) };
  };
  return { emulator, ...newProcess(), newProcess, logged, waits, clock };
}

/** Reads the whole list of the account, with a listing of its own. */
export async function wholeList({
  http,
}: EndpointsApi): Promise<{ endpoints: Endpoint[]; skipped: Listing["skipped"] }> {
  const listing = new EndpointsApi(http, endpointParsers).list.fullListing("fresh");
  await listing.readToEnd();
  return { endpoints: [...listing.endpoints.values()], skipped: listing.skipped };
}

/** The error of a rejected promise. Throws if the promise is fulfilled. */
export async function thrown(promise: Promise<unknown>): Promise<Error> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error("expected a rejection");
  expect(tooLong([error.message])).toEqual([]);
  return error;
}
