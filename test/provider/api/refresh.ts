import type { JsonObject } from "../../../provider/api/json";
import { accountFingerprint } from "../../../provider/endpoint/gone";
import type { Emulator, RecordedRequest } from "../../../sdk/testing";
import type { service } from "../world";

/** The engine's number of parallel reads on a machine with two cores. */
const PARALLEL = 8;

export const settings = { requestsPerWindow: "1000000" };
export const isList = ({ method, path }: RecordedRequest) => method === "GET" && path === "/endpoints";
export const count = (requests: readonly RecordedRequest[]) => ({
  pages: requests.filter(isList).length,
  singles: requests.filter((request) => !isList(request)).length,
});

/** Reads the endpoints as a refresh does. Returns the ids of the existing ones. */
export async function refresh(
  core: Awaited<ReturnType<typeof service>>["core"],
  states: { id: string; outs: JsonObject }[],
  parallel = PARALLEL,
): Promise<string[]> {
  const found: string[] = [];
  const queue = states.values();
  const worker = async () => {
    for (const { id, outs } of queue) found.push((await core.read(id, outs)).id);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return found.filter((id) => id !== "");
}

const CREATED = "2025-01-01T00:00:00Z";

interface Seeded {
  id: string;
  outs: { type: string; url: string; createdAt: string; __account: string };
}

/** Seeds cloud endpoints, none of them young, and returns their states. */
export function seeded(emulator: Emulator, endpoints: number, label = "e") {
  const seed = (i: number) => {
    const url = `https://${label}${i}.example.com`;
    const { id } = emulator.seed({ type: "cloud", url, created_at: CREATED });
    return { id, outs: { type: "cloud", url, createdAt: CREATED, __account: accountFingerprint(emulator) } };
  };
  // The type has a first item, which every caller but those of none asks for.
  return Array.from({ length: endpoints }, (_, i) => seed(i)) as [Seeded, ...Seeded[]];
}

export function agents(emulator: Emulator, endpoints: number) {
  for (let i = 0; i < endpoints; i++)
    emulator.seed({ type: "ephemeral", url: `https://agent${i}.example.app` });
}
