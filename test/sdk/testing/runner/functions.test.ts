import { describe, expect, test } from "vitest";
import { evaluate as evaluateWith } from "../../../../sdk/testing/runner/expressions";
import { calls } from "./documentedCalls";

const evaluate = (text: string) => evaluateWith(text, {}, {});

/** Bytes as an array of numbers, integers apart from other numbers. */
const plain = (value: unknown): unknown =>
  value instanceof Uint8Array ? [...value] : structuredClone(value);

describe("a documented call", () => {
  test.each(calls.filter(([, result]) => result !== null))("%s gives %s", (call, result) => {
    expect(plain(evaluate(call))).toEqual(plain(evaluate(result ?? "")));
  });

  test.each(calls.filter(([, result]) => result === null))("%s is an error", (call) => {
    expect(() => evaluate(call)).toThrow(/which fails \((?!found no|Unknown)/);
  });
});
