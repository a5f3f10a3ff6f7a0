import { expect, test } from "vitest";
import { parseTarget } from "../../../../../sdk/testing/emulator/agent/target";

test.each([
  ["/", "/", "/", ""],
  ["//brex/1", "//brex/1", "//brex/1", ""],
  ["///", "///", "///", ""],
  ["/a/../b/./c", "/a/../b/./c", "/a/../b/./c", ""],
  ["/a%2Fb%20%C3%A9", "/a%2Fb%20%C3%A9", "/a/b é", ""],
  ["/%ff", "/%ff", "/\ufffd", ""],
  ["/a?b=%zz?c", "/a", "/a", "b=%zz?c"],
  ["/http://x/", "/http://x/", "/http://x/", ""],
  ["http://host.example:80/a?b", "/a", "/a", "b"],
  ["HTTP://host?b", "/", "/", "b"],
])("the target %s has the path that an application would see", (text, rawPath, path, query) => {
  expect(parseTarget(text)).toMatchObject({ rawPath, path, query });
});

test.each(["", "*", "a", "host:80", "/%", "/%zz", "/%f"])("the target %j is none", (text) => {
  expect(parseTarget(text)).toBeUndefined();
});
