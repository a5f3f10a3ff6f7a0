import { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import { chai, expect } from "vitest";
import { z } from "zod";
import { UserError } from "../../provider/api/apiErrors";
import { endpointFields } from "../../provider/api/wire";
import { PartialCreateError } from "../../provider/errors";
import { CANARY_KEY } from "../provider/service";
import { MOST_REQUESTS, type RawService } from "./rawService";

export type Outcome = { value: unknown } | { error: UserError };

/** What does not end by then never does, however slow the machine. In milliseconds. */
const LONGEST = 120_000;

/** Nobody reads more lines of a run. */
const MOST_LINES = 100;

/**
 * What must hold of every call, whatever the service answers: it ends; with a value, or with an error that is reported to
 * a person as it is. (A rejection that nobody handles fails the run as such.)
 */
export async function settled(parts: RawService, work: () => Promise<unknown>): Promise<Outcome> {
  const outcome = await ended(work);
  expect(parts.asked.length, "requests").toBeLessThan(MOST_REQUESTS);
  expect(parts.logged.length, "lines said").toBeLessThanOrEqual(MOST_LINES);
  parts.logged.forEach(expectPlain);
  expect(Reflect.get({}, "polluted"), "every object's prototype").toBeUndefined();
  if ("value" in outcome) return outcome;

  const { error } = outcome;
  if (error instanceof chai.AssertionError) throw error;
  if (!(error instanceof UserError))
    throw new Error(`not an error of this package: ${error}`, { cause: error });
  expectPlain(error.message);
  if (error instanceof PartialCreateError) {
    expect(error.id).not.toBe("");
    error.reasons.forEach(expectPlain);
  }
  return { error };
}

/** An endpoint as `LiveEndpoint` documents it: known fields of their types, no null, no prototype of the service's. */
export function expectEndpoint(value: unknown): void {
  expectFields(endpointFields, value);
}

/** Outputs that can become state: the endpoint's fields, documents as data, in a form that the engine can carry. */
export function expectOutputs(value: unknown): void {
  const { id: _, trafficPolicy: __, metadata: ___, ...fields } = endpointFields;
  expectFields(fields, value);
  const json = carried(value);
  // JSON writes half a character as an escape; the engine's UTF-8 cannot write it at all.
  expect(json, "half a character").not.toMatch(/(?<!\\)(?:\\\\)*\\ud[89a-f]/);
}

/** What the engine prints as it is: one line that a person can read, without the key. */
export function expectPlain(message: string): void {
  expect(message.length, "length of the message").toBeLessThanOrEqual(4000);
  expect(message).not.toContain(CANARY_KEY);
  // Line breaks, escapes that move a terminal's cursor, halves of characters.
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

/** The value as JSON, as the engine is sent it and writes it down. Both go through it by recursion, to some depth. */
function carried(value: unknown): string {
  try {
    Struct.fromJavaScript(JSON.parse(JSON.stringify(value))).serializeBinary();
    return JSON.stringify(value, (_key, part) => {
      if (typeof part === "number") expect(part, "JSON has no such number").toSatisfy(Number.isFinite);
      return part;
    });
  } catch (error) {
    if (error instanceof RangeError) expect.fail("this is too deep to become state");
    throw error;
  }
}
