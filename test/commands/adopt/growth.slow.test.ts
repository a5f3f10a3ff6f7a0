import { describe, test } from "vitest";
import type { Endpoint } from "../../../provider/service/contract";
import { expectLinear } from "../../growth";
import { endpoint, written } from "./written";

describe("the time to write a program is proportional to", () => {
  const policyOf = (document: object) => [endpoint("1", "a", { trafficPolicy: JSON.stringify(document) })];
  const times = (number: number, entry: (nth: number) => [string, unknown]) =>
    Object.fromEntries(Array.from({ length: number }, (_, nth) => entry(nth)));
  test.each<[string, number, (size: number) => Endpoint[]]>([
    ["keys", 2_000, (size) => policyOf(times(size, (nth) => [`key-${nth}`, nth]))],
    ["places of one secret", 2_000, (size) => policyOf({ tokens: Array(size).fill("the-same") })],
    [
      "texts beside secrets",
      1_000,
      (size) =>
        policyOf({
          tokens: Object.keys(times(size, (nth) => [`secret-${nth}`, 0])),
          texts: Object.keys(times(size, (nth) => [`has secret-${nth} in it`, 0])),
        }),
    ],
    [
      "endpoints with secrets",
      200,
      (size) =>
        Array.from({ length: size }, (_, nth) =>
          endpoint(`${nth}`, `n${nth}`, {
            trafficPolicy: `{"secret":"secret-${nth}","short":{"token":"s-${nth}"}}`,
          }),
        ),
    ],
    [
      "nested lists",
      20,
      (size) => policyOf({ all: Array(size).fill(JSON.parse(`${"[".repeat(150)}${"]".repeat(150)}`)) }),
    ],
  ])("the number of %s", async (_, size, input) => {
    await expectLinear(input, (endpoints) => written(endpoints), size);
  });
});
