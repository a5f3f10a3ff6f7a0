import { EndpointsApi } from "../../provider/api/endpoints";
import type { Request } from "../../provider/api/exchange";
import { type Clock, HttpClient } from "../../provider/api/http";
import { CloudEndpoints } from "../../provider/cloudEndpoint";
import { readSettings } from "../../provider/config";
import { Emulator } from "../../sdk/testing";

/** In every policy; no message may hold it. */
export const SECRET_CANARY = "CANARY-9c1e";
/** The account's key; no message may hold it. */
export const KEY_CANARY = "2canaryCanaryCanaryCanary27_canaryCanaryCanary021";

/** Small, so that a few requests meet it. */
export const BUDGET = { requests: 8, windowSeconds: 60 };

/** A clock on which waiting takes no time: it is moved on to what was waited for. */
function jumpingClock(): Clock {
  let ahead = 0;
  const now = () => performance.timeOrigin + performance.now() + ahead;
  return {
    now,
    sleep: async (milliseconds) => {
      const until = now() + milliseconds;
      await new Promise((resolve) => setImmediate(resolve));
      // Whoever waited longer has moved it on already.
      ahead += Math.max(0, until - now());
    },
    random: Math.random,
  };
}

/** Whether a process lives. What a dead one had begun may still reach the service; it begins nothing more. */
interface Life {
  ended: boolean;
}

const never = () => new Promise<never>(() => {});

/** The real client, of a process that can be killed. */
class MortalClient extends HttpClient {
  constructor(
    settings: ReturnType<typeof readSettings>,
    around: { clock: Clock; say: (message: string) => void },
    private readonly life: Life,
  ) {
    const clock: Clock = {
      ...around.clock,
      sleep: (milliseconds) =>
        around.clock.sleep(milliseconds).then(() => (life.ended ? never() : undefined)),
    };
    super(settings, { ...around, clock, engineIsThere: async () => !life.ended });
  }

  override send: HttpClient["send"] = (request: Request, reply) =>
    this.life.ended ? never() : super.send(request, reply);
}

/** One process of the provider: its core, and the requests that the service saw of it. */
export interface Process {
  core: CloudEndpoints;
  /** When each request arrived. */
  arrivals: number[];
  /** As SIGKILL does. */
  kill(): void;
}

/** An emulated service, processes of the provider before it, and everything that they said. */
export class World {
  readonly said: string[] = [];
  private readonly processes: Process[] = [];
  private readonly clients: HttpClient[] = [];

  private constructor(
    readonly emulator: Emulator,
    private readonly clock: Clock,
    private readonly settings: Record<string, string>,
    private readonly arrived: { by: Process | undefined },
  ) {}

  static async start(settings: Record<string, string>): Promise<World> {
    const clock = jumpingClock();
    const arrived: World["arrived"] = { by: undefined };
    const emulator = await Emulator.start({
      apiKey: KEY_CANARY,
      now: () => new Date(clock.now()),
    });
    // Sees every request when it arrives, and takes none.
    const note = () => {
      arrived.by?.arrivals.push(clock.now());
      return false;
    };
    emulator.intercept(note, { reset: true }, Number.POSITIVE_INFINITY);
    return new World(emulator, clock, settings, arrived);
  }

  /** A new process, as every phase of a command has one. */
  newProcess(): Process {
    const config: Record<string, string> = {
      "endpoints:apiKey": KEY_CANARY,
      "endpoints:baseUrl": this.emulator.baseUrl,
      "endpoints:requestsPerWindow": `${BUDGET.requests}`,
      "endpoints:windowSeconds": `${BUDGET.windowSeconds}`,
      // Real time, since a connection that hangs is given up by the HTTP library's own timers.
      "endpoints:timeoutSeconds": "0.1",
      ...this.settings,
    };
    const say = (message: string) => this.said.push(message);
    const life = { ended: false };
    const settings = readSettings((key) => config[key], {});
    const http = new MortalClient(settings, { clock: this.clock, say }, life);
    const api = new EndpointsApi(http);
    const process: Process = {
      core: new CloudEndpoints({ api: () => api, say }),
      arrivals: [],
      kill: () => {
        life.ended = true;
      },
    };
    this.clients.push(http);
    this.processes.push(process);
    this.arrived.by = process;
    return process;
  }

  /** Most requests that one process sent in any window. */
  get mostInAWindow(): number {
    const counts = this.processes.flatMap(({ arrivals }) =>
      arrivals.map(
        (at) => arrivals.filter((other) => other <= at && other > at - BUDGET.windowSeconds * 1000).length,
      ),
    );
    return Math.max(0, ...counts);
  }

  async close(): Promise<void> {
    // The service first: what a killed process has open would never end by itself.
    await this.emulator.close();
    for (const client of this.clients) await client.close();
  }
}
