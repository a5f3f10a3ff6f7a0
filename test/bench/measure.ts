import { type Cell, type Operation, operations, type SeenByService, type Unit } from "./cells";
import { DirectRuns } from "./direct";
import { EngineRuns } from "./engineRuns";
import type { Taken } from "./providerProcess";
import { Service } from "./service";

interface Measured {
  seconds: number;
  taken?: Taken | undefined;
  stateBytes?: number;
}

interface Runs {
  run(operation: Operation): Promise<Measured>;
  close(): void | Promise<void>;
}

/** Takes one contestant through its life on a service of its own, and gives each operation's cell as it ends. */
export async function* measure(unit: Unit): AsyncGenerator<Cell> {
  const service = await Service.start();
  const runs = await start(unit, service);
  try {
    for (const operation of operations) {
      await service.seen();
      const { seconds, taken, stateBytes } = await runs.run(operation);
      const seen = await service.seen();
      expectEndpoints(unit, operation, seen);
      yield {
        ...unit,
        operation,
        seconds,
        ...seen,
        ...(taken && { providerBytes: taken.bytes, providerSeconds: taken.seconds }),
        ...(stateBytes !== undefined && { stateBytes }),
      };
    }
  } finally {
    await runs.close();
    await service.close();
  }
}

async function start({ driver, contestant, size }: Unit, service: Service): Promise<Runs> {
  if (driver === "direct") {
    const direct = new DirectRuns(contestant, size, service);
    return {
      run: async (operation) => ({ seconds: await direct.run(operation) }),
      close: () => direct.close(),
    };
  }
  const runs = await EngineRuns.start({ driver, contestant, size, service });
  return {
    run: async (operation) => {
      const measured = await runs.run(operation);
      return operation === "create" ? { ...measured, stateBytes: await runs.stateBytes() } : measured;
    },
    close: () => runs.close(),
  };
}

/** Whoever leaves out a part of the work is not faster. */
function expectEndpoints(
  { contestant, size }: Unit,
  operation: Operation,
  { endpoints }: SeenByService,
): void {
  const expected = contestant === "noop" || operation === "destroy" ? 0 : size;
  if (endpoints !== expected)
    throw new Error(`after ${operation} of ${contestant} there are ${endpoints} endpoints, not ${expected}`);
}
