import { endpointParsers } from "../../provider/endpoint/fields";
import { engineInputs } from "../../provider/endpoint/inputs";
import { CloudEndpoints } from "../../provider/endpoint/resource";
import { ApiError, EndpointsError } from "../../provider/service/apiErrors";
import { HttpClient, type Log } from "../../provider/service/client";
import type { Clock } from "../../provider/service/clock";
import { EndpointsApi } from "../../provider/service/endpoints";
import type { Request } from "../../provider/service/httpTransport";
import { readSettings } from "../../provider/service/settings";
import { Emulator, type EmulatorOptions } from "../../sdk/testing";
import type { Process, Provider } from "../model/phase";
import { CANARY_KEY } from "../provider/emulated";
import { jumpingClock } from "../provider/virtualClock";
import { type Busy, freeSlowly } from "./serviceFaults";

/** A secret in every policy. No message may contain it. */
export const SECRET_CANARY = "CANARY-9c1e";

/** The prefix of the names of resources with the second provider, which has processes of its own. */
export const SECOND = "second/";

export const hasSecondProvider = (name: string) => name.startsWith(SECOND);

export const providerOf = (name: string) => (hasSecondProvider(name) ? SECOND : "first");

const WINDOW_SECONDS = 60;

/** The life of a process. A killed process sends nothing more, but earlier requests may still reach the service. */
interface Life {
  ended: boolean;
  /** The process's creates. One whose answer was lost has the time when it was sent. */
  creates: { url: string; lostSince?: number | undefined }[];
}

const never = () => new Promise<never>(() => {});

/** The real client of a process that can be killed. */
class KillableClient extends HttpClient {
  constructor(
    settings: ReturnType<typeof readSettings>,
    deps: { clock: Clock; log: Log },
    private readonly life: Life,
  ) {
    const clock: Clock = {
      ...deps.clock,
      sleep: (milliseconds) => deps.clock.sleep(milliseconds).then(() => (life.ended ? never() : undefined)),
    };
    super(settings, { ...deps, clock, isEngineAlive: async () => !life.ended });
  }

  override send: HttpClient["send"] = async (request: Request, reply) => {
    if (this.life.ended) return never();
    if (request.method !== "POST") return super.send(request, reply);
    const create: Life["creates"][number] = { url: String(Object(request.body).url) };
    this.life.creates.push(create);
    return super.send(request, reply).catch((error: unknown) => {
      const isRefusal = error instanceof ApiError && [400, 409, 422].includes(error.status);
      if (error instanceof EndpointsError && !isRefusal) create.lostSince = error.sentAt;
      throw error;
    });
  };
}

/** A process of the provider. */
export interface TestProcess extends Process {
  readonly life: Life;
  /** The times when its requests arrived at the service. */
  arrivals: number[];
}

/** The emulator's options, and its refusals of a URL whose last endpoint was just deleted or moved. */
export type ServiceOptions = EmulatorOptions & { busyUrl?: Busy | undefined };

/** An emulated service, the processes of the provider, and their messages. */
export class Testbed {
  readonly logged: string[] = [];
  /** The stack's configuration, without the settings of the random run. */
  readonly config: Record<string, string> = { "endpoints:apiKey": CANARY_KEY };
  /** Other settings of one command. */
  override: Record<string, string> = {};
  readonly processes: TestProcess[] = [];
  private readonly clients: HttpClient[] = [];

  private constructor(
    readonly emulator: Emulator,
    readonly clock: Clock,
    private readonly settings: Record<string, string>,
  ) {}

  static async start(settings: Record<string, string>, service: ServiceOptions): Promise<Testbed> {
    const clock = jumpingClock();
    const { busyUrl, ...options } = service;
    const freed = busyUrl && freeSlowly(busyUrl, clock.now);
    const emulator: Emulator = await Emulator.start({
      ...options,
      onAnswer: () => freed?.(emulator),
      apiKey: CANARY_KEY,
      basePath: "/api/v2",
      now: () => new Date(clock.now()),
    });
    const testbed = new Testbed(emulator, clock, settings);
    // Records each request and matches none. A request can arrive after the start of the next process.
    const note = ({ headers }: { headers: Record<string, string> }) => {
      testbed.processes[Number(headers["user-agent"])]?.arrivals.push(clock.now());
      return false;
    };
    emulator.intercept(note, { reset: true }, Number.POSITIVE_INFINITY);
    return testbed;
  }

  /** Starts a new process. Pulumi starts one for each phase of a command. */
  newProcess(): TestProcess {
    const config: Record<string, string> = {
      "endpoints:baseUrl": this.emulator.baseUrl,
      "endpoints:windowSeconds": `${WINDOW_SECONDS}`,
      // In real time: the HTTP library's timers end connections that hang.
      "endpoints:timeoutSeconds": "0.2",
      ...this.settings,
      ...this.config,
      ...this.override,
    };
    const write = (message: string) => void this.logged.push(message);
    const log = { info: write, warn: write };
    const life: Life = { ended: false, creates: [] };
    const settings = {
      ...readSettings((key) => config[key], {}),
      userAgent: `${this.processes.length}`,
    };
    const http = new KillableClient(settings, { clock: this.clock, log }, life);
    const api = new EndpointsApi(http, endpointParsers);
    const core = new CloudEndpoints({ connect: () => api, log });
    const process: TestProcess = {
      of: () => operationsOf(core),
      life,
      arrivals: [],
      kill: () => {
        life.ended = true;
      },
    };
    this.clients.push(http);
    this.processes.push(process);
    return process;
  }

  /** Waits in real time until the requests of killed processes have arrived. */
  async settled(): Promise<void> {
    for (let before = -1; before < this.emulator.requests.length; ) {
      before = this.emulator.requests.length;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }

  /** The most requests of a process in any window. */
  mostInAWindow({ arrivals }: TestProcess): number {
    const inWindow = (at: number) =>
      arrivals.filter((other) => other <= at && other > at - WINDOW_SECONDS * 1000).length;
    return Math.max(0, ...arrivals.map(inWindow));
  }

  async close(): Promise<void> {
    // The service closes first, because requests of killed processes may never end.
    await this.emulator.close();
    for (const client of this.clients) await client.close();
  }
}

/** The core's operations. */
const operationsOf = (core: CloudEndpoints): Provider => ({
  check: (olds, news) => core.check(olds, news),
  diff: (id, olds, news) => core.diff(id, olds, engineInputs(news)),
  create: (news) => core.create(engineInputs(news)),
  read: (id, outputs) => core.read(id, outputs),
  update: (id, olds, news) => core.update(id, olds, engineInputs(news)),
  delete: (id, outputs) => core.delete(id, outputs),
  import: (id) => core.import(id),
});
