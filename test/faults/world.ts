import { HttpClient, type Log } from "../../provider/api/client";
import type { Clock } from "../../provider/api/clock";
import { bodyOf, type Request } from "../../provider/api/connections";
import { readSettings } from "../../provider/api/settings";
import { endpointsApi } from "../../provider/endpoint/fields";
import { CloudEndpoints } from "../../provider/endpoint/resource";
import { Emulator, type EmulatorOptions } from "../../sdk/testing";
import { CANARY_KEY } from "../provider/world";

/** A clock that jumps to the end of a wait, so waits take no time. */
function jumpingClock(): Clock {
  let ahead = 0;
  const now = () => performance.timeOrigin + performance.now() + ahead;
  return {
    now,
    sleep: async (milliseconds) => {
      const until = now() + milliseconds;
      // A request that was sent before the wait must arrive before its end.
      for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
      // A longer wait may have moved the clock already.
      ahead += Math.max(0, until - now());
    },
    random: Math.random,
  };
}

/** The life of a process. A killed process sends nothing more, but earlier requests may still reach the service. */
interface Life {
  ended: boolean;
  /** The URLs of its creates. */
  creates: string[];
}

const never = () => new Promise<never>(() => {});

/** The real client of a process that can be killed. */
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
    super(settings, { ...deps, clock, engineIsThere: async () => !life.ended });
  }

  override send: HttpClient["send"] = async (request: Request, reply) => {
    if (this.life.ended) return never();
    if (request.method === "POST") this.life.creates.push(String(Object(bodyOf(request)).url));
    return super.send(request, reply);
  };
}

/** A process of the provider. */
export interface Process {
  core: CloudEndpoints;
  readonly life: Life;
  /** Ends the process like SIGKILL. */
  kill(): void;
}

/** An emulated service, the processes of the provider, and their messages. */
export class World {
  readonly logged: string[] = [];
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
      apiKey: CANARY_KEY,
      basePath: "/api/v2",
      now: () => new Date(clock.now()),
    });
    return new World(emulator, clock, settings);
  }

  /** Starts a new process. Pulumi starts one for each phase of a command. */
  newProcess(): Process {
    const config: Record<string, string> = {
      "endpoints:apiKey": CANARY_KEY,
      "endpoints:baseUrl": this.emulator.baseUrl,
      "endpoints:requestsPerWindow": "100000",
      // In real time, because the HTTP library's timers end connections that hang.
      "endpoints:timeoutSeconds": "0.2",
      ...this.settings,
    };
    const write = (message: string) => void this.logged.push(message);
    const log = { info: write, warn: write };
    const life: Life = { ended: false, creates: [] };
    const settings = readSettings((key) => config[key], {});
    const http = new MortalClient(settings, { clock: this.clock, log }, life);
    const api = endpointsApi(http);
    const process: Process = {
      core: new CloudEndpoints({ connect: () => api, log }),
      life,
      kill: () => {
        life.ended = true;
      },
    };
    this.clients.push(http);
    this.processes.push(process);
    return process;
  }

  /** Waits in real time until the requests of killed processes have arrived. */
  async quiet(): Promise<void> {
    for (let before = -1; before < this.emulator.requests.length; ) {
      before = this.emulator.requests.length;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }

  async close(): Promise<void> {
    // The service closes first, because requests of killed processes may never end.
    await this.emulator.close();
    for (const client of this.clients) await client.close();
  }
}
