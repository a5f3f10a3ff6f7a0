import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../../provider/data/json";
import { policyFromText, problemOfTags, problemsOfData } from "../../../provider/data/parse";
import { pathText } from "../../../provider/data/paths";

const reasonOf = (text: string) => {
  const parsed = policyFromText(text);
  return "problem" in parsed ? parsed.problem : "no problem";
};

/** The text of a UTF-16 file that is read as UTF-8. */
function utf16(text: string, order = "little-endian"): string {
  const bytes = Buffer.from(text, "utf16le");
  return (order === "little-endian" ? bytes : bytes.swap16()).toString("utf8");
}

describe("a policy's text", () => {
  test("is the same data as JSON and as YAML, with any spaces, order and comments", () => {
    const json = policyFromText('{"on_http_request": [{"name": "a", "actions": []}]}');
    const yaml = policyFromText("# comment\non_http_request:\n  - actions: []\n    name: a\n");
    expect(json).toEqual({ data: { on_http_request: [{ name: "a", actions: [] }] } });
    expect("data" in json && "data" in yaml && canonicalJson(json.data) === canonicalJson(yaml.data)).toBe(
      true,
    );
  });

  test.each([
    [
      '{\n  "a": 1\n  "b": 2\n}',
      /^is not valid JSON \(line 2, column 8\); text that starts with \{ or \[ must be JSON$/,
    ],
    ['{"a": [1, 2,, 3]}', /^is not valid JSON \(line 1, column 13\); /],
    ['{"a": [1,]}', /^is not valid JSON: it has .* a comma before a closing bracket; text that starts/],
    [`{"a": [${"False,".repeat(10_000)}]}`, /^is not valid JSON: /],
    [
      '{"on_http_request": [],\n "on_http_request": [1]}',
      /^has a key twice \(line 2, column 2\); keep one of the two$/,
    ],
    ['{"a": [{"b": {"c": 1, "d": "c", "\\u0063": 2}}]}', /^has a key twice \(line 1, column 33\)/],
    ["./shop policy.yaml", /of a file, give what it contains, not its name$/],
    ["a: 1\n---\nb: 2", /^has more than one YAML document$/],
    ["a: 1\n b: 2", /^is not valid YAML \(line 1, column \d+\): check the indentation/],
    ["a: 1\nb: {c: 1, c: 2}", /^is not valid YAML \(line 2, column 11\): a key is there twice$/],
    ["a: [*b, &b 1]", /^is not valid YAML: an alias has no anchor before it/],
    [`a: [${"&b 1, *b, ".repeat(101)}]`, /anchors are used more than 100 times$/],
    // Aliases of aliases: 27 in the text, 729 in the data.
    [
      `a0: &a0 1\n${[0, 1, 2].map((at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(9)}]\n`).join("")}`,
      /anchors are used more than 100 times$/,
    ],
    // Parsed as YAML, this text would overflow the parser's stack.
    [`a: ${"[".repeat(20_000)}`, /^is nested more than 200 levels deep$/],
    [`{"a": ${"[".repeat(200)}${"]".repeat(200)}}`, /^is nested more than 200 levels deep$/],
    ["a: .nan", /^contains at a a value that JSON cannot hold/],
    ["a: 0x20000000000001", /may not be kept exactly/],
    ["x: &x {a: 1}\nz: {<<: 1}", /what is merged is no mapping/],
    ["x: &x {a: 1}\nz: {<<: *x, <<: *x}", /a key is there twice/],
    ["", /^must be a mapping of phases, as in on_http_request: \[…\]$/],
    ['[{"on_http_request": []}]', /^must be a mapping of phases, as in on_http_request: \[…\]$/],
    ["a: 1\n---\n~", /^must be a mapping of phases/],
    [utf16("a: 1"), /^is UTF-16 text; save the file as UTF-8$/],
    [utf16('\ufeff{"a": 1}'), /^is UTF-16 text/],
    [utf16("\ufeffa: 1", "big-endian"), /^is UTF-16 text/],
    ['\ufeff{"a": 1 2}', /^is not valid JSON \(line 1, column 7\)/],
  ])("%.60j is refused", (text, reason) => {
    expect(reasonOf(text)).toMatch(reason);
  });

  test.each(['{"secret": "CANARY" oops}', "secret: CANARY\n  oops: ["])(
    "%j is refused without being quoted",
    (text) => {
      expect(reasonOf(text)).toMatch(/^is not valid/);
      expect(reasonOf(text)).not.toContain("CANARY");
    },
  );

  test.each([
    ["- a\n- ! req.host.startsWith('CANARY')", "line 2, column 3"],
    ["a: !CANARY", "line 1, column 4"],
    ["a: !CANARY b", "line 1, column 4"],
    ["a: [!user:CANARY]", "line 1, column 5"],
    ["a: {! b: CANARY}", "line 1, column 5"],
    ["a: !(CANARY in b)", "line 1, column 4"],
    ["!DOCTYPE CANARY", "line 1, column 1"],
    ["\ufeffa: &b !CANARY c", "line 1, column 7"],
    ["a: !!set {CANARY}", "line 1, column 4"],
    ["a: !!timestamp 2026-01-01", "line 1, column 4"],
    ["a: !!str CANARY", "line 1, column 4"],
    ["%TAG !e! tag:example.com:\n---\na: !e!CANARY b", "line 3, column 4"],
    ["a: 1\n--- !CANARY", "line 2, column 5"],
  ])("with a tag is refused without being quoted: %j", (text, place) => {
    const reason = `has a YAML tag (${place}): an unquoted ! begins one; quote it if it is text, or else leave it out`;
    expect(reasonOf(text)).toBe(reason);
    expect(problemOfTags(text)).toBe(reason);
  });

  test.each(["*a", "{<<: *a}"])("may use an anchor a hundred times, as in %s", (use) => {
    const text = (uses: number) => `a: &a {b: 1}\nc: [${`${use}, `.repeat(uses)}]`;
    expect(policyFromText(text(100))).toEqual({ data: { a: { b: 1 }, c: Array(100).fill({ b: 1 }) } });
    expect(reasonOf(text(101))).toMatch(/^is not valid YAML: .* anchors are used more than 100 times$/);
  });

  // biome-ignore format: one line for each text
  test.each<[string, string, object]>([
    ["resolves an alias to the last anchor before it, also within a repeated part", "a: &x 1\nb: &y [*x, &x 2]\nc: &x 3\nd: [*x, *y, *x]", { a: 1, b: [1, 2], c: 3, d: [3, [1, 2], 3] }],
    ["merges as the parsers of Go do", "x: &x {a: 1, b: 1}\ny: {<<: {<<: *x, a: 4}}\nz: {<<: [{a: 2, d: 2}, *x]}", { x: { a: 1, b: 1 }, y: { a: 4, b: 1 }, z: { a: 2, b: 1, d: 2 } }],
    ["is read as YAML 1.2, whatever version it claims", "%YAML 1.1\n---\na: [yes, 010]", { a: ["yes", 10] }],
    ["has replacement characters for unpaired surrogates in JSON, which UTF-8 cannot encode", '{"a": "\\udc00!"}', { a: "\ufffd!" }],
    ["may have ! in quotes, and inside of text", "a: [\"!x\", '! y', z !w]\nb: |\n  !v\nc: 1 # !u", { a: ["!x", "! y", "z !w"], b: "!v\n", c: 1 }],
    ["may begin with a byte order mark", "\ufeffa: 1", { a: 1 }],
    ["may begin with a byte order mark as JSON", '\ufeff{"a": 1}', { a: 1 }],
    ["may end with an empty document", "a: 1\n---\n# the end\n", { a: 1 }],
    ["may have the key __proto__", '{"__proto__": {"a": 1}, "b": 2}', JSON.parse('{"__proto__": {"a": 1}, "b": 2}')],
  ])("%s", (_, text, data) => expect(policyFromText(text)).toEqual({ data }));
});

describe("a number", () => {
  test.each(["9007199254740993", "0.1234567890123456789", "1e400", "1e-400"])("%s is refused", (number) => {
    const reason = (place: string) =>
      `contains a number with more than 15 digits, or with an exponent of three, which may not be kept exactly (${place}); write it as text`;
    expect(reasonOf(`{\n"a": [0, ${number.replace("-", "")}]}`)).toBe(reason("line 2, column 10"));
    expect(reasonOf(`a: ${number}`)).toBe(reason("line 1, column 4"));
  });

  // The last two are texts that JavaScript writes, so that what was sent can be read again.
  const exact = ["-0", "1.10", "123456789012345", "1.5E+30", `${0.1 + 0.2}`, `${5e-324}`];
  test.each(exact)("%s is accepted", (number) => {
    expect(policyFromText(`{"a": ${number}}`)).toEqual({ data: { a: Number(number) } });
    expect(policyFromText(`a: ${number}`)).toEqual({ data: { a: Number(number) } });
  });

  test("in quotes is text", () => {
    const data = { a: "12345678901234567890", 'say "1e400"': "0.1234567890123456789" };
    expect(policyFromText(JSON.stringify(data))).toEqual({ data });
    expect(policyFromText(`a: '${data.a}'\n'say "1e400"': "0.1234567890123456789"`)).toEqual({ data });
  });
});

test("values that JSON cannot hold are reported with their paths, up to twenty", () => {
  const problems = problemsOfData({ a: [1, { b: Number.NaN }], c: () => 0, d: new Date(0), e: 1n });
  const places = problems.map((problem) => /^contains at (\S+) a value that JSON cannot/.exec(problem)?.[1]);
  expect(places).toEqual(["a[1].b", "c", "d", "e"]);
  expect(problemsOfData(Array.from({ length: 1_000 }, () => Number.NaN))).toHaveLength(20);
});

test("data and JSON have at most a million characters, and 200 levels", () => {
  const fits = { a: "x".repeat(1_000_000 - '{"a":""}'.length) };
  expect(problemsOfData(fits)).toEqual([]);
  expect(problemsOfData({ a: `${fits.a}x` })).toEqual(["is longer than 1000000 characters"]);
  expect(reasonOf(`${JSON.stringify(fits)} `)).toBe("is longer than 1000000 characters");

  const long20 = (item: string) => Array(100_000).fill(item).join(",");
  expect(reasonOf(`{"a":[${long20("1e20")}]}`)).toMatch(/is longer than 1000000 characters/);

  const levels = (number: number): object => JSON.parse(`${"[".repeat(number)}${"]".repeat(number)}`);
  expect(problemsOfData(levels(200))).toEqual([]);
  for (const number of [201, 20_000])
    expect(problemsOfData(levels(number))).toEqual(["is nested more than 200 levels deep"]);
});

test("YAML has at most 50,000 characters, comments included", () => {
  const text = `# ${"c".repeat(25_000)}\na: `;
  const fits = "x".repeat(50_000 - text.length);
  expect(policyFromText(text + fits)).toEqual({ data: { a: fits } });
  expect(reasonOf(`${text}x${fits}`)).toBe(
    "is longer than 50000 characters, the limit of YAML; JSON can have 1000000",
  );
});

test("a path has Pulumi's syntax", () => {
  expect(pathText(["trafficPolicy", "on_http_request", 0, "actions"])).toBe(
    "trafficPolicy.on_http_request[0].actions",
  );
  expect(pathText(["metadata", "a.b", 'say "x"', "", "c-d"])).toBe('metadata["a.b"]["say \\"x\\""][""].c-d');
});

test("the same key in several mappings, or as a value, is not a repeated key", () => {
  const text = '{"a": [{"a": "a"}, {"a": {"a": ["a", "a"]}}], "b": {"a:": "a\\"a"}, "c": {}}';
  expect(policyFromText(text)).toEqual({ data: JSON.parse(text) });
});

test("data that contains itself is refused as too deep", () => {
  const circle: Record<string, unknown> = { a: 1 };
  circle["self"] = [circle];
  circle["twice"] = { circle };
  expect(problemsOfData(circle)).toEqual(["is nested more than 200 levels deep"]);
});
