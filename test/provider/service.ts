import { afterEach } from "vitest";
import { HttpClient } from "../../provider/api/client";
import { type Clock, realClock } from "../../provider/api/clock";
import { EndpointsApi } from "../../provider/api/endpoints";
import { CloudEndpoints } from "../../provider/cloudEndpoint";
import { readSettings } from "../../provider/config";
import { Redaction } from "../../provider/redaction";
import { Emulator, type EmulatorOptions } from "../../sdk/testing/emulator";

/** A key that no message, log or state may ever hold. */
export const CANARY_KEY = "2canaryCanaryCanaryCanary27_canaryCanaryCanary021";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

interface Given extends EmulatorOptions {
  settings?: Record<string, string>;
  /** How far the service's clock is ahead of ours, in milliseconds. */
  ahead?: number;
  /** What a wait of the client does. Default: it takes no time. */
  sleep?: () => Promise<void>;
  engineIsThere?: () => Promise<boolean>;
}

/** The service on loopback, a real client of it whose waits take no time, and the provider's core. */
export async function service({ ahead = 0, sleep, engineIsThere, ...options }: Given = {}) {
  // Early in a second: which one a create was sent in then follows from whole seconds.
  let late = 1_200 - (Date.now() % 1_000);
  // One clock for both, since a wait that takes no time here must not take any there either.
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
  const said: string[] = [];
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
  /** A process of the provider, as every phase of a command is one of its own. */
  const newProcess = (environment: NodeJS.ProcessEnv = {}) => {
    const settings = readSettings((key) => config[key], environment);
    const write = (message: string) => void said.push(message);
    const log = { info: write, warn: write };
    const redactor = new Redaction();
    const http = new HttpClient(settings, { clock, log, redactor, ...(engineIsThere && { engineIsThere }) });
    const api = new EndpointsApi(http);
    open.push(http);
    const connect = () => ({ api, settings });
    return { api, connect, log, core: new CloudEndpoints({ connect, log }) };
  };
  return { emulator, ...newProcess(), newProcess, said, waits, clock };
}

/** The account as a reading that shares nothing with others shows it. */
export async function wholeList({ http }: EndpointsApi) {
  const reading = new EndpointsApi(http).list.since(0);
  await reading.toEnd();
  return { endpoints: [...reading.endpoints.values()], skipped: reading.skipped };
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
