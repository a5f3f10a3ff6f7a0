import { describe, expect, test } from "vitest";
import type { WireEndpoint } from "../../../../provider/api/contract";
import { FilterError, parseFilter } from "../../../../sdk/testing/emulator/cel";

const endpoint: WireEndpoint = {
  id: "ep_1",
  type: "cloud",
  url: 'https://shop.example.com/"\\',
  created_at: "2026-03-01T12:00:00Z",
  description: "Läden 😀",
  metadata: '{"team":"shop"}',
  bindings: ["public"],
  pooling_enabled: false,
  region: "eu",
  principal: { id: "usr_1", uri: "" },
};

const deep = "(".repeat(100_000);

describe("a filter of the list", () => {
  test.each([
    ['obj.type == "cloud"', true],
    ["obj.type=='cloud'", true],
    ['obj.type != "cloud"', false],
    ['obj.url == "https://shop.example.com/\\"\\\\"', true],
    ['obj.url in ["https://other.example.com", "https://shop.example.com/\\"\\\\"]', true],
    ["obj.url in []", false],
    ['obj.created_at > timestamp("2026-02-01T00:00:00Z")', true],
    ['obj.created_at >= timestamp("2026-03-01T13:00:00+01:00") && obj.region == "eu"', true],
    ['obj.region == "us" || obj.binding == "public" && obj.principal.id == "usr_1"', true],
    ['(obj.region == "us" || obj.binding == "public") && obj.type == "edge"', false],
    ["!obj.pooling_enabled", true],
    ["obj.pooling_enabled == false", true],
    ["size(obj.description) == 7", true],
    ['obj.description == "L\\u00e4den \\U0001F600"', true],
    ['obj.name == ""', true],
    ['size(["a", "b"]) <= 2', true],
    [" true ", true],
  ])("%s is %s", (expression, fits) => {
    expect(parseFilter(expression)(endpoint)).toBe(fits);
  });

  test.each([
    ["", /unexpected the end/],
    ["obj.type =", /character 9/],
    ['obj.type == "cloud', /character 12/],
    ['obj.type == "cloud" || ', /unexpected the end/],
    ['(obj.type == "cloud"', /\) is missing/],
    ['obj.type == "cloud")', /unexpected \)/],
    ['obj.kind == "cloud"', /no obj\.kind/],
    ['type == "cloud"', /no type/],
    ["obj.__proto__", /no obj\.__proto__/],
    ['obj.url.startsWith("https")', /no obj\.url\.startsWith/],
    ["obj.type", /neither true nor false/],
    ["obj.type == 1", /cannot be compared/],
    ['obj.type in "cloud"', /needs a list/],
    ["size(true) == 1", /no size/],
    ['obj.created_at > timestamp("soon")', /timestamp needs/],
    [deep, /too deep/],
  ])("%# is refused", (expression, message) => {
    const evaluate = () => parseFilter(expression)(endpoint);
    expect(evaluate).toThrow(FilterError);
    expect(evaluate).toThrow(message);
  });
});
