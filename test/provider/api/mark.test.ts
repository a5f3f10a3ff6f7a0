import { expect, test } from "vitest";
import { ownerText } from "../../../provider/api/mark";

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
