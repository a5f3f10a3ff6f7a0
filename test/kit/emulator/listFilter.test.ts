import { describe, expect, test } from "vitest";
import type { WireEndpoint } from "../../../provider/api/contract";
import { parseFilter } from "../../../sdk/testing/emulator/routes";
import { ServiceError } from "../../../sdk/testing/emulator/serviceErrors";

const endpoint: WireEndpoint = {
  id: "ep_1",
  type: "cloud",
  url: 'https://shop.example.com/"\\',
  name: "Läden 😀",
};

describe("a filter of the list", () => {
  test.each([
    ['obj.type == "cloud"', true],
    ['obj.type == "edge"', false],
    ['obj.url == "https://shop.example.com/\\"\\\\"', true],
    ['obj.url in ["https://other.example.com", "https://shop.example.com/\\"\\\\"]', true],
    ["obj.url in []", false],
    ['obj.name == "L\\u00e4den 😀"', true],
    ['obj.region == ""', true],
    ['obj.type == "cloud" && obj.name in ["a && b", "L\\u00e4den 😀"]', true],
    ['obj.type == "cloud" && obj.region == "us"', false],
  ])("%s is %s", (expression, fits) => {
    expect(parseFilter(expression)(endpoint)).toBe(fits);
  });

  test.each([
    "",
    "obj.type =",
    'obj.type == "cloud',
    'obj.type == "cloud" || obj.type == "edge"',
    'obj.type == "cloud", "edge"',
    'obj.type in "cloud"',
    'obj.kind == "cloud"',
    'obj.__proto__ == "x"',
    "obj.type == 1",
    'type == "cloud"',
    String.raw`obj.name == "\q"`,
    String.raw`obj.name == "\u12"`,
    'obj.name == "\n"',
  ])("%s is refused", (expression) => {
    expect(() => parseFilter(expression)).toThrow(ServiceError);
  });
});
