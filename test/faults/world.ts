import { EndpointsError } from "../../provider/api/apiErrors";
import { HttpClient, type Log } from "../../provider/api/client";
import type { Clock } from "../../provider/api/clock";
import { EndpointsApi } from "../../provider/api/endpoints";
import type { Request } from "../../provider/api/exchange";
import { CloudEndpoints } from "../../provider/cloudEndpoint";
import { readSettings } from "../../provider/config";
import { Redaction } from "../../provider/redaction";
import { Emulator, type EmulatorOptions } from "../../sdk/testing";

/** In every policy; no message may hold it. */
export const SECRET_CANARY = "CANARY-9c1e";
/** The account's key; no message may hold it. */
export const KEY_CANARY = "2canaryCanaryCanaryCanary27_canaryCanaryCanary021";

const WINDOW_SECONDS = 60;

/** A clock on which waiting takes no time: it is moved on to what was waited for. */
function jumpingClock(): Clock {
  let ahead = 0;
  const now = () => performance.timeOrigin + performance.now() + ahead;
  return {
    now,
    sleep: async (milliseconds) => {
      const until = now() + milliseconds;
      // What was sent before arrives before: a wait of seconds must not end while a request is still in a socket.
      for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
      // Whoever waited longer has moved it on already.
      ahead += Math.max(0, until - now());
    },
    random: Math.random,
  };
}

/** What becomes of a process. What a dead one had begun may still reach the service; it begins nothing more. */
interface Life {
  ended: boolean;
  /** The creates that it began, and when those whose answers were lost were sent and lost. */
  creates: { url: string; sentAt?: number | undefined; lostAt?: number }[];
}

const never = () => new Promise<never>(() => {});

/** The real client, of a process that can be killed. */
class MortalClient extends HttpClient {
  constructor(
    settings: ReturnType<typeof readSettings>,
    deps: { clock: Clock; log: Log },
    private readonly life: Life,
  ) {
    const clock: Clock = {
      ...deps.clock,
      sleep: (milliseconds) => deps.clock.sleep(milliseconds).then(() => (life.ended ? never() : undefined)),
    };
    super(settings, { ...deps, clock, redactor: new Redaction(), engineIsThere: async () => !life.ended });
  }

  override send: HttpClient["send"] = async (request: Request, reply) => {
    if (this.life.ended) return never();
    if (request.method !== "POST") return super.send(request, reply);
    const create: Life["creates"][number] = { url: String(Object(request.body).url) };
    this.life.creates.push(create);
    return super.send(request, reply).catch((error: unknown) => {
      if (error instanceof EndpointsError)
        Object.assign(create, { sentAt: error.sentAt, lostAt: this.clock.now() });
      throw error;
    });
  };
}

/** One process of the provider: its core, and the requests that the service saw of it. */
export interface Process {
  core: CloudEndpoints;
  readonly life: Life;
  /** When each request arrived. */
  arrivals: number[];
  /** As SIGKILL does. */
  kill(): void;
}

/** Where a command finds the service, and what its environment holds, where that is not as always. */
export interface Aside {
  baseUrl?: string;
  apiKey?: string;
  environment?: NodeJS.ProcessEnv;
}

/** An emulated service, processes of the provider before it, and everything that they said. */
export class World {
  readonly said: string[] = [];
  /** For the next processes, until it is taken back. */
  aside: Aside = {};
  /** The key of the stack. */
  apiKey = KEY_CANARY;
  readonly processes: Process[] = [];
  private readonly clients: HttpClient[] = [];

  private constructor(
    readonly emulator: Emulator,
    readonly clock: Clock,
    private readonly settings: Record<string, string>,
  ) {}

  static async start(settings: Record<string, string>, service: EmulatorOptions): Promise<World> {
    const clock = jumpingClock();
    const emulator = await Emulator.start({
      ...service,
      apiKey: KEY_CANARY,
      basePath: "/api/v2",
      now: () => new Date(clock.now()),
    });
    const world = new World(emulator, clock, settings);
    // This matches no request, and notes each one. What a process sent can arrive when the next one has begun.
    const note = ({ headers }: { headers: Record<string, string> }) => {
      world.processes[Number(headers["user-agent"])]?.arrivals.push(clock.now());
      return false;
    };
    emulator.intercept(note, { reset: true }, Number.POSITIVE_INFINITY);
    return world;
  }

  /** A new process, as every phase of a command has one. */
  newProcess(): Process {
    const config: Record<string, string> = {
      "endpoints:apiKey": this.aside.apiKey ?? this.apiKey,
      "endpoints:baseUrl": this.aside.baseUrl ?? this.emulator.baseUrl,
      "endpoints:windowSeconds": `${WINDOW_SECONDS}`,
      // Real time, since a connection that hangs is given up by the HTTP library's own timers.
      "endpoints:timeoutSeconds": "0.2",
      ...this.settings,
    };
    const write = (message: string) => void this.said.push(message);
    const log = { info: write, warn: write };
    const life: Life = { ended: false, creates: [] };
    const settings = {
      ...readSettings((key) => config[key], this.aside.environment ?? {}),
      userAgent: `${this.processes.length}`,
    };
    const http = new MortalClient(settings, { clock: this.clock, log }, life);
    const api = new EndpointsApi(http);
    const process: Process = {
      core: new CloudEndpoints({ connect: () => ({ api, settings }), log }),
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

  /** What was begun when a process died reaches the service in a moment, in real time, or never. */
  async quiet(): Promise<void> {
    for (let before = -1; before < this.emulator.requests.length; ) {
      before = this.emulator.requests.length;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }

  /** Most requests that a process sent in any window. */
  mostInAWindow({ arrivals }: Process): number {
    const inWindow = (at: number) =>
      arrivals.filter((other) => other <= at && other > at - WINDOW_SECONDS * 1000).length;
    return Math.max(0, ...arrivals.map(inWindow));
  }

  async close(): Promise<void> {
    // The service first: what a killed process has open would never end by itself.
    await this.emulator.close();
    for (const client of this.clients) await client.close();
  }
}
