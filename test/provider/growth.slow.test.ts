import { describe, test } from "vitest";
import { normalizeUrl, type Path, policyFromText, sourceDocuments } from "../../provider/data/index";
import { textPattern } from "../../provider/dataSources/textPatterns";
import { metadataFromText } from "../../provider/endpoint/documents";
import { endpointParsers, inputFields } from "../../provider/endpoint/fields";
import { errorSchema } from "../../provider/service/replySchemas";
import { resourceWarnings } from "../../sdk/policyWarnings";
import { policyWarnings } from "../../sdk/traffic-policy/policy/index";
import { act, onRequest, rule } from "../../sdk/traffic-policy/test/policy/cases";
import { expectLinear, expectTimes } from "../growth";

/* The time of every parser and matcher is linear in its input, even if the input is hostile. */

/** Texts of about `size` characters that would take a naive parser a long time. */
type Hostile = Record<string, (size: number) => string>;

const lines = (size: number, line: (index: number) => string) =>
  Array.from({ length: size / 10 }, (_, index) => line(index)).join("\n");
const nested = (size: number, open: string, close: string) => open.repeat(size) + close.repeat(size);

const hostileJson: Hostile = {
  "a valid document": (size) => `{"a":[${lines(size, () => '{"b":"c"},')}1]}`,
  "an invalid document": (size) => `{"a":[${lines(size, () => '{"b":"c"},')}1]`,
  levels: (size) => nested(size / 2, "[", "]"),
  "a string that is never closed": (size) => `{"a":"${"x".repeat(size)}`,
  "escaped quotes": (size) => `{"a":"${'\\"'.repeat(size / 2)}`,
  "zeros in a number": (size) => `{"a":1.${"0".repeat(size)}1}`,
  numbers: (size) => `{"a":[${"1234567890123456.5,".repeat(size / 19)}1]}`,
};

describe("a policy's text", () => {
  test.each(Object.entries(hostileJson))(
    "as JSON of %s takes linear time, as metadata too",
    async (_, text) => {
      await expectLinear(text, policyFromText, 50_000);
      await expectLinear(text, metadataFromText, 50_000);
    },
  );
});

const many = <T>(size: number, one: (index: number) => T): T[] =>
  Array.from({ length: size }, (_, index) => one(index));
const keys = (size: number) => Object.fromEntries(many(size, (index) => [`k${index}`, index]));

const normalize = (text: string) => normalizeUrl(text);
const matches = ([pattern = "", url = ""]: string[]) => textPattern(pattern)(url);
const parsesReply = (wire: object) => [endpointParsers.strict.safeParse(wire), errorSchema.safeParse(wire)];
const warns = (policy: unknown) => policyWarnings(policy, { isCloud: true });
const paths: Path[] = [["a", 0], ["a", 1, "b"], ["x"]];
const findPositions = (text: string) => {
  const source = sourceDocuments(text);
  if ("documents" in source) for (const path of paths) source.documents[0]?.positionOf(path);
};

/** A typed row of the table. */
const row = <T>(what: string, size: number, make: (size: number) => T, work: (input: T) => unknown) =>
  [what, () => expectLinear(make, work, size)] as const;

// biome-ignore format: one line for each input
test.each([
  row("bindings to check", 10_000, (size) => many(size, (index) => `binding ${index}`), (bindings) => inputFields.bindings.safeParse(bindings)),
  row("a URL of credentials", 50_000, (size) => `https://${"@".repeat(size)}]`, normalize),
  row("a URL of colons", 50_000, (size) => `https://${":".repeat(size)}]`, normalize),
  row("a pattern of stars alone", 10_000, (size) => [`${"*".repeat(size)}b`, "a".repeat(size)], matches),
  row("a pattern with a long part", 10_000, (size) => [`*${"a".repeat(999)}b${"a".repeat(999)}*`, "a".repeat(size)], matches),
  row("a reply with invalid bindings", 40_000, (size) => ({ id: "ep_1", bindings: many(size, () => 1) }), parsesReply),
  row("warnings of unknown phases", 20_000, keys, warns),
  row("warnings of letters in a name", 20_000, (size) => onRequest(rule(act("x".repeat(size * 10), { ["y".repeat(size)]: 1 }))), warns),
  row("positions in YAML", 4_000, (size) => `a:\n${"- { b: 1 }\n".repeat(size)}`, findPositions),
  row("positions in JSON", 4_000, (size) => `{"a": [${'{"b": "\\""},'.repeat(size)}1]}`, findPositions),
])("%s take linear time", (_, measured) => measured());

// biome-ignore format: parts of expressions, and of texts with expressions
test.each([
  "req.headers['A'] && ", "a . ", "(", "[", "{'a': ", "'a' ", '"""', '"""\n\\', "r'\\", "// ", ".all(a, b",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: they are expressions of the policy's
  "${", "${req.headers['A", "${\\'}",
])("the warnings take linear time for an expression, and a text, that repeats %j", (part) => {
  const policyOf = (times: number) =>
    onRequest({
      expressions: [`${part.repeat(times)}${times}`],
      ...rule(act("custom-response", { body: part.repeat(times) })),
    });
  return expectLinear(policyOf, warns, 4_000);
});

test("the warnings for YAML text take little more time than parsing it", () => {
  const large = `on_http_request:\n${"- actions: [{ type: dney }]\n".repeat(1_800)}`;
  const parse = () => sourceDocuments(large);
  const warn = () => resourceWarnings({ trafficPolicy: large });
  return expectTimes<() => unknown>(3, parse, warn, (work) => work());
});
