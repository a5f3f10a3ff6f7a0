import { type Child, type Launch, type Line, startProvider } from "./processes";
import { Provider } from "./provider";
import type { ResourceState } from "./resourceState";
import type { Props } from "./values";

/**
 * The provider processes of one run, one for each provider reference, started when first needed. A reference that the
 * run did not register is configured from the state; as `EnsureProvider`.
 */
export class Providers {
  private readonly configs = new Map<string, Props>();
  private readonly started = new Map<string, Promise<Provider>>();
  private readonly children: Child[] = [];
  private readonly clients: Provider[] = [];

  constructor(
    private readonly launch: Launch,
    olds: ResourceState[],
    private readonly address: () => string,
    private readonly onLine: Line,
  ) {
    for (const { urn, id, inputs } of olds) this.configs.set(`${urn}::${id}`, inputs);
  }

  add(reference: string, config: Props): void {
    this.configs.set(reference, config);
  }

  get(reference: string): Promise<Provider> {
    const running = this.started.get(reference) ?? this.start(reference);
    this.started.set(reference, running);
    return running;
  }

  private async start(reference: string): Promise<Provider> {
    const config = this.configs.get(reference);
    if (config === undefined) throw new Error(`could not find provider ${reference} in the state`);
    const { child, port } = startProvider(this.launch, this.address(), this.onLine);
    this.children.push(child);
    const provider = new Provider(await port);
    this.clients.push(provider);
    await provider.configure(config);
    return provider;
  }

  /** Returns when all processes are gone. */
  async close(): Promise<void> {
    await Promise.allSettled(this.started.values());
    for (const client of this.clients) client.close();
    await Promise.all(this.children.map((child) => child.stop("SIGKILL", 0)));
  }
}
