import { expect, test } from "vitest";
import { unreadStacks } from "../../sdk/commands/stackNames";

test.each<[all: string[], read: string[], unread: string[]]>([
  [["acme/api/dev", "other/api/dev"], ["api/dev"], ["acme/api/dev", "other/api/dev"]],
  [["acme/api/dev", "other/api/dev"], ["acme/api/dev"], ["other/api/dev"]],
  [["dev", "other/api/dev"], ["api/dev"], ["other/api/dev"]],
  [["dev", "other/api/dev"], ["other/api/dev"], ["dev"]],
  [["dev", "other/api/dev"], ["organization/api/dev", "other/api/dev"], []],
  [["dev", "prod"], ["organization/api/dev", "api/dev"], ["prod"]],
  [["organization/api/dev", "organization/web/dev"], ["api/dev"], ["organization/web/dev"]],
])("of the stacks %j, with %j read, %j are unread", (all, read, unread) => {
  expect(unreadStacks(all, read, "api")).toEqual(unread);
});
