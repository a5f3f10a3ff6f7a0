import { chai, expect } from "vitest";
import { z } from "zod";
import { endpointFields } from "../../provider/endpoint/fields";
import { CloudEndpoints } from "../../provider/endpoint/resource";
import { UserError } from "../../provider/service/apiErrors";
import { CANARY_KEY, wholeList } from "../provider/emulated";
import { MAX_REQUESTS, type RawService, type ReceivedRequest } from "./rawService";

/* The calls of the client and of the provider, with the invariants that hold whatever the service replies. */

const url = "https://shop.example.com";
const id = "ep_2Hx0000000000000000000000001";

/** A valid endpoint on the wire. */
export const valid = {
  id,
  type: "cloud",
  url,
  public_url: url,
  proto: "https",
  hostport: "shop.example.com:443",
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
  bindings: ["public"],
  traffic_policy: '{"on_http_request":[]}',
  metadata: "{}",
  principal: { id: "usr_1", uri: "" },
};

/** JSON text of the valid endpoint with other values of some fields. */
export const bodyOf = (change: object = {}) => JSON.stringify({ ...valid, ...change });

/** A call, with checks of its result. */
type Operation = (parts: RawService) => Promise<unknown>;

const given = { url, description: "front door", metadata: { a: 1 }, __provider: "code" };
const stored = { url, type: "cloud", metadata: { a: 1 }, __setByProgram: [], __provider: "code" };

/** Returns a new core, because a core that has adopted an endpoint refuses to delete it. */
const core = ({ connect, log }: RawService) => new CloudEndpoints({ connect, log });

const createdWith =
  (more: object): Operation =>
  async (parts) => {
    const created = await core(parts).create({ ...given, ...more });
    expect(created.id).toMatch(/^[\w-]+$/);
    expectOutputs(created.outs);
    return created;
  };

const updatedFrom =
  (olds: object): Operation =>
  async (parts) =>
    expectOutputs((await core(parts).update(id, { ...olds }, given)).outs);

const checkedWith =
  (more: object): Operation =>
  async (parts) => {
    const { failures } = await core(parts).check({}, { ...given, ...more });
    for (const { reason } of failures) expectPlain(reason);
  };

export const operations = {
  POST: async ({ api }) => expectEndpoint(await api.create({ url })),
  GET: async ({ api }) => expectEndpoint(await api.get(id)),
  PATCH: async ({ api }) => expectEndpoint(await api.update(id, { description: "x" })),
  DELETE: async ({ api }) => expect(await api.delete(id)).toBeUndefined(),
  "the list": async ({ api }) => {
    const { endpoints, skipped } = await wholeList(api);
    for (const endpoint of endpoints) expectEndpoint(endpoint);
    for (const { reason } of skipped) expectPlain(reason);
  },
  "a create": createdWith({}),
  "an adoption": createdWith({ adopt: id }),
  "a read": async (parts) => {
    const found = await core(parts).read(id, stored);
    if (found.id === "") return expect(found).toEqual({ id: "", props: {} });
    expect(found.id).toBe(id);
    expectOutputs(found.props);
    expectOutputs(found.inputs);
  },
  "an update": updatedFrom(stored),
  "an update of a state without outputs": updatedFrom(given),
  "a delete": (parts) => core(parts).delete(id, stored),
  "a check with an adoption": checkedWith({ adopt: id }),
} satisfies Record<string, Operation>;

/** Replies with an endpoint's JSON text: to a list as its only item, and to a delete with 204. */
export const asReply =
  (text: string) =>
  ({ method, path }: ReceivedRequest) => {
    if (method === "DELETE") return { status: 204 };
    const isList = method === "GET" && /^\/endpoints(\?|$)/.test(path);
    return { body: isList ? `{"endpoints":[${text}]}` : text };
  };

type Outcome = { value: unknown } | { error: UserError };

/** Makes each call once, with the same replies. */
export async function checkAllOperations(
  parts: RawService,
  reply: Parameters<RawService["answers"]>[0],
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const [name, operation] of Object.entries<Operation>(operations)) {
    parts.answers(reply);
    try {
      outcomes.push(await checkInvariants(parts, operation));
    } catch (error) {
      throw new Error(`${name}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  }
  return outcomes;
}

/** The most lines that a call may log. */
const MAX_LINES = 100;

/**
 * Checks the invariants of every call, whatever the service replies: the call ends with a value or with a readable error of
 * this package, after a limited number of requests and log lines. An unhandled rejection fails the test run.
 */
export async function checkInvariants(parts: RawService, operation: Operation): Promise<Outcome> {
  const outcome = await (async () => operation(parts))().then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  expect(parts.received.length, "requests").toBeLessThan(MAX_REQUESTS);
  expect(parts.logged.length, "logged lines").toBeLessThanOrEqual(MAX_LINES);
  parts.logged.forEach(expectPlain);
  expect(Reflect.get({}, "polluted"), "every object's prototype").toBeUndefined();
  if ("value" in outcome) return outcome;
  const { error } = outcome;
  if (error instanceof chai.AssertionError) throw error;
  if (!(error instanceof UserError))
    throw new Error(`not an error of this package: ${error}`, { cause: error });
  expectPlain(error.message);
  return { error };
}

/** Checks a message that the engine prints unchanged: one readable line of limited length, without the key. */
function expectPlain(message: string): void {
  expect(message.length, "length of the message").toBeLessThanOrEqual(4000);
  expect(message).not.toContain(CANARY_KEY);
  // Line breaks, escapes of a terminal, unpaired surrogates.
  expect(message).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Surrogate}]/u);
}

/** Checks an endpoint against `Endpoint`: known fields have their types, and there is no null and no foreign prototype. */
function expectEndpoint(value: unknown, fields: z.ZodRawShape = endpointFields): void {
  const parsed = z.looseObject(fields).safeParse(value);
  expect(parsed.error?.issues ?? []).toEqual([]);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
}

/** Checks that outputs can become state: the fields have their types, and UTF-8 can encode their texts. */
function expectOutputs(value: unknown): void {
  const { id: _, trafficPolicy: __, metadata: ___, ...fields } = endpointFields;
  expectEndpoint(value, fields);
  // JSON writes an unpaired surrogate as an escape.
  expect(JSON.stringify(value), "an unpaired surrogate").not.toMatch(/(?<!\\)(?:\\\\)*\\ud[89a-f]/);
}
