import { describe, expect, test } from "vitest";
import type { Path } from "../../../provider/data/paths";
import { sourceDocuments } from "../../../provider/data/positions";

function positions(text: string, ...paths: Path[]): string {
  const source = sourceDocuments(text);
  if ("problem" in source) throw new Error(source.problem);
  const [document] = source.documents;
  const found = paths.map((path) => document?.positionOf(path));
  return found.map((one) => `${one?.line}:${one?.column}`).join(" ");
}

const YAML = `# a policy
on_http_request:
  - name: first
    actions: &shared
      - type: deny
        config:
          status_code: 404
  - actions: *shared
  - <<: { name: merged }
    actions: [{ type: log }]
`;

describe("the position of a part", () => {
  test("in YAML is its key's or item's, also in aliases; for a merged part it is the mapping's", () => {
    const first: Path = ["on_http_request", 0];
    expect(
      positions(
        YAML,
        first,
        [...first, "actions", 0, "type"],
        [...first, "actions", 0, "config", "status_code"],
        ["on_http_request", 1, "actions", 0, "type"],
        ["on_http_request", 2, "name"],
        ["on_http_request", 2, "actions", 0, "type"],
      ),
    ).toBe("3:5 5:9 7:11 5:9 9:5 10:17");
  });

  test("in JSON is found despite brackets and escapes in strings", () => {
    const text = '{\n  "a\\"}": [1, {"b": "]\\\\", "c": [2]}],\n  "d": {"e": null}\n}';
    const paths: Path[] = [['a"}'], ['a"}', 1], ['a"}', 1, "c"], ['a"}', 1, "c", 0], ["d", "e"]];
    expect(positions(text, ...paths)).toBe("2:3 2:15 2:28 2:34 3:9");
  });

  test.each([
    [YAML, "3:5 3:5 2:1"],
    ['{"on_http_request": [{"actions": []}]}', "1:22 1:22 1:1"],
  ])("that is missing is its parent's", (text, expected) =>
    expect(positions(text, ["on_http_request", 0], ["on_http_request", 0, "x", 7], [])).toBe(expected),
  );
});

test.each([
  ["a text with a doubled quote, which is that of its start,", "x: 'it''s no'\n", "x", "no", "1:4"],
  ["a text with escapes", 'x: "\\t\\"a\\\\ \\n no"\n', "x", "no", "1:16"],
  ["a comment with the same words", "x: > # about no\n  no\n", "x", "no", "2:3"],
  ["a block", "x: |\n  one\n\n    two no\n", "x", "no", "4:9"],
  ["a folded block with an indent", "a:\n  x: >-2\n      one\n      no\n", "a.x", "no", "4:7"],
  ["an alias", "a: &a one no\nx: *a\n", "x", "no", "1:11"],
  ["JSON with escapes, which is that of the text,", '{\n "x": "\\n\\"\\u0061 no"}', "x", "no", "2:7"],
  ["a text that ends there", "x: one\n", "x", "", "1:7"],
])("a place in %s has a line and a column", (_, text, path, part, position) => {
  const source = sourceDocuments(text);
  if ("problem" in source) throw new Error(source.problem);
  const [document] = source.documents;
  const keys = path.split(".");
  const value = String(keys.reduce<unknown>((data, key) => Reflect.get(Object(data), key), document?.data));
  const found = document?.positionOf(keys, part === "" ? value.length : value.lastIndexOf(part));
  expect(`${found?.line}:${found?.column}`).toBe(position);
});
