import { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import { chai, expect } from "vitest";
import { z } from "zod";
import { UserError } from "../../provider/api/apiErrors";
import { endpointFields } from "../../provider/endpoint/fields";
import { CANARY_KEY } from "../provider/world";
import { MOST_REQUESTS, type RawService } from "./rawService";

export type Outcome = { value: unknown } | { error: UserError };

/** After this time, a call counts as endless. In milliseconds. */
const LONGEST = 120_000;

/** The most lines that a run may log. */
const MOST_LINES = 100;

/**
 * Checks the guarantees of every call, whatever the service replies: the call ends with a value or with a readable error of
 * this package, after a limited number of requests and log lines. An unhandled rejection fails the test run.
 */
export async function settled(parts: RawService, work: () => Promise<unknown>): Promise<Outcome> {
  const outcome = await ended(work);
  expect(parts.received.length, "requests").toBeLessThan(MOST_REQUESTS);
  expect(parts.logged.length, "logged lines").toBeLessThanOrEqual(MOST_LINES);
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

/** Checks an endpoint against `LiveEndpoint`: known fields have their types, and there is no null and no foreign prototype. */
export function expectEndpoint(value: unknown): void {
  expectFields(endpointFields, value);
}

/** Checks that outputs can become state: the fields have their types, and the engine can encode them. */
export function expectOutputs(value: unknown): void {
  const { id: _, trafficPolicy: __, metadata: ___, ...fields } = endpointFields;
  expectFields(fields, value);
  const json = encoded(value);
  // JSON writes an unpaired surrogate as an escape, but UTF-8 cannot encode it.
  expect(json, "an unpaired surrogate").not.toMatch(/(?<!\\)(?:\\\\)*\\ud[89a-f]/);
}

/** Checks a message that the engine prints unchanged: one readable line of limited length, without the key. */
export function expectPlain(message: string): void {
  expect(message.length, "length of the message").toBeLessThanOrEqual(4000);
  expect(message).not.toContain(CANARY_KEY);
  // Line breaks, escapes of a terminal, unpaired surrogates.
  expect(message).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Surrogate}]/u);
}

function expectFields(fields: z.ZodRawShape, value: unknown): void {
  const parsed = z.looseObject(fields).safeParse(value);
  expect(parsed.error?.issues ?? []).toEqual([]);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
}

async function ended(work: () => Promise<unknown>): Promise<{ value: unknown } | { error: unknown }> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end after ${LONGEST} ms`)), LONGEST);
  });
  const done = (async () => {
    try {
      return { value: await work() };
    } catch (error) {
      return { error };
    }
  })();
  try {
    return await Promise.race([done, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Encodes the value as the engine does, on the wire and as JSON. Both encoders recurse, so they limit the depth. */
function encoded(value: unknown): string {
  try {
    Struct.fromJavaScript(JSON.parse(JSON.stringify(value))).serializeBinary();
    return JSON.stringify(value, (_key, part) => {
      if (typeof part === "number") expect(part, "JSON has no such number").toSatisfy(Number.isFinite);
      return part;
    });
  } catch (error) {
    if (error instanceof RangeError) expect.fail("the value is too deep for a state");
    throw error;
  }
}
