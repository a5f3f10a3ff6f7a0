import { expect } from "vitest";
import { CloudEndpoints } from "../../provider/endpoint/resource";
import { wholeList } from "../provider/world";
import { id, url } from "./hostile";
import { expectEndpoint, expectOutputs, expectPlain, type Outcome, settled } from "./invariants";
import type { RawService, ReceivedRequest } from "./rawService";

/** A call of the client or of the provider, with checks of its result. */
export interface Call {
  name: string;
  run(parts: RawService): Promise<unknown>;
}

const given = { url, description: "front door", metadata: { a: 1 }, __provider: "code" };
const stored = { url, type: "cloud", metadata: { a: 1 }, __given: [], __provider: "code" };

/** Returns a new core, because a core that has adopted an endpoint refuses to delete it. */
const core = ({ connect, log }: RawService) => new CloudEndpoints({ connect, log });

async function all({ api }: RawService) {
  const { endpoints, skipped } = await wholeList(api);
  endpoints.forEach(expectEndpoint);
  for (const item of skipped) expectPlain(item.reason);
}

async function outputs(result: Promise<{ outs: unknown }>) {
  const { outs } = await result;
  expectOutputs(outs);
}

async function created(result: Promise<{ id: string; outs: unknown }>) {
  const value = await result;
  expect(value.id).toMatch(/./);
  expectOutputs(value.outs);
  return value;
}

async function checked(result: ReturnType<CloudEndpoints["check"]>) {
  const { failures } = await result;
  for (const failure of failures) expectPlain(failure.reason);
}

async function read(parts: RawService) {
  const found = await core(parts).read(id, stored);
  if (found.id === "") return expect(found).toEqual({ id: "", props: {} });
  expect(found.id).toBe(id);
  expectOutputs(found.props);
  expectOutputs(found.inputs);
}

export const create: Call = {
  name: "a create",
  run: (parts) => created(core(parts).create(given)),
};

export const adoptByUrl: Call = {
  name: "an adoption by URL",
  run: (parts) => created(core(parts).create({ ...given, adopt: true })),
};

export const adoptById: Call = {
  name: "an adoption by id",
  run: (parts) => created(core(parts).create({ ...given, adopt: id })),
};

export const calls: Call[] = [
  { name: "POST", run: async ({ api }) => expectEndpoint(await api.create({ url })) },
  { name: "GET", run: async ({ api }) => expectEndpoint(await api.get(id)) },
  { name: "PATCH", run: async ({ api }) => expectEndpoint(await api.update(id, { description: "x" })) },
  { name: "DELETE", run: async ({ api }) => expect(await api.delete(id)).toBeUndefined() },
  { name: "the list", run: all },
  create,
  adoptByUrl,
  adoptById,
  { name: "a read", run: read },
  { name: "an update", run: (parts) => outputs(core(parts).update(id, stored, given)) },
  {
    name: "an update of a state without outputs",
    run: (parts) => outputs(core(parts).update(id, given, given)),
  },
  { name: "a delete", run: (parts) => core(parts).delete(id, stored) },
  { name: "a check by URL", run: (parts) => checked(core(parts).check({}, { ...given, adopt: true })) },
  { name: "a check by id", run: (parts) => checked(core(parts).check({}, { ...given, adopt: id })) },
];

/** Replies with an endpoint's JSON text: to a list as its only item, and to a delete with 204. */
export const either =
  (text: string) =>
  ({ method, path }: ReceivedRequest) => {
    if (method === "DELETE") return { status: 204 };
    const isList = method === "GET" && /^\/endpoints(\?|$)/.test(path);
    return { body: isList ? `{"endpoints":[${text}]}` : text };
  };

/** Makes each call once, with the same replies. */
export async function settledAll(
  parts: RawService,
  reply: Parameters<RawService["answers"]>[0],
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const { name, run } of calls) {
    parts.answers(reply);
    try {
      outcomes.push(await settled(parts, () => run(parts)));
    } catch (error) {
      throw new Error(`${name}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  }
  return outcomes;
}
