import { expect, test } from "vitest";
import { MARK_FIELD, ownerText, withMark, withoutMark } from "../../../provider/api/mark";

const owner = {
  namespace: "platform-team/prod",
  urn: "urn:pulumi:prod::shop::endpoints:index:CloudEndpoint::front",
};

test.each([
  ["endpoints:index:CloudEndpoint::front", "front"],
  ["my:Shop$endpoints:index:CloudEndpoint::front", "my:Shop::front"],
  ["my:Shop$my:Door$pulumi-nodejs:dynamic/endpoints:CloudEndpoint::a::b", "my:Shop$my:Door::a::b"],
])("messages name the owner of %s", (end, named) => {
  const text = ownerText({ ...owner, urn: `urn:pulumi:prod::shop::${end}` });
  expect(text).toBe(`'${named}' of the stack shop/prod (platform-team/prod)`);
});

test.each([["text"], [[1, 2]], [{ long: "ä".repeat(2_000) }]])(
  "this metadata gets no mark: %j",
  (metadata) => {
    expect(withMark(metadata, { ...owner, nonce: "0011", time: "" })).toBeUndefined();
  },
);

test.each([
  ["text"],
  ["{"],
  [`"${MARK_FIELD}"`],
  [`{"${MARK_FIELD}":1}`],
  [`{"${MARK_FIELD}":{"nonce":"1"}}`],
])("metadata without a valid mark is not changed: %s", (metadata) => {
  expect(withoutMark(metadata)).toEqual({ metadata });
});
