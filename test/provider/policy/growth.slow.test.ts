import { describe, test } from "vitest";
import type { Path } from "../../../provider/endpoint/documents";
import { sourceDocuments } from "../../../provider/policy/positions";
import { resourceWarnings } from "../../../provider/policy/resourceWarnings";
import { policyWarnings } from "../../../provider/policy/warnings";
import { expectLinear, expectTimes } from "../../growth";
import { act, onRequest, rule } from "./cases";

describe("the warnings take linear time for a policy of many", () => {
  const right = rule(act("add-headers", { headers: { a: "b" } }), act("log", { metadata: { a: 1 } }));
  const times = (size: number, one: unknown) => Array<unknown>(size).fill(one);
  test.each<[string, (size: number) => unknown]>([
    ["rules", (size) => onRequest(...times(size, right))],
    ["rules that answer", (size) => onRequest(...times(size, rule(act("deny"))))],
    ["actions", (size) => onRequest(rule(...times(size, act("deny"))))],
    ["unknown actions", (size) => onRequest(...times(size, rule(act("dney"))))],
    ["unknown phases", (size) => Object.fromEntries(Array.from({ length: size }, (_, n) => [`p${n}`, []]))],
    ["letters in a name", (size) => onRequest(rule(act("x".repeat(size * 10), { ["y".repeat(size)]: 1 })))],
  ])("%s", (_, policy) => expectLinear(policy, (made) => policyWarnings(made, { isCloud: true }), 20_000));
});

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: they are expressions of the policy's
describe("the warnings take linear time for an expression, and a text, that repeats", () => {
  // biome-ignore format: parts of expressions, and of texts with expressions
  test.each([
    "req.headers['A'] && ", "a . ", "(", "[", "{'a': ", "'a' ", '"""', '"""\n\\', "r'\\", "// ", ".all(a, b",
    "${", "${req.headers['A", "${\\'}",
  ])("%j", async (part) => {
    const policyOf = (times: number) =>
      onRequest({
        expressions: [`${part.repeat(times)}${times}`],
        ...rule(act("custom-response", { body: part.repeat(times) })),
      });
    await expectLinear(policyOf, (policy) => policyWarnings(policy), 4_000);
  });
});

// biome-ignore-end lint/suspicious/noTemplateCurlyInString: as above

describe("positions take linear time to find", () => {
  const paths: Path[] = [["a", 0], ["a", 1, "b"], ["x"]];
  const find = (text: string) => {
    const source = sourceDocuments(text);
    if ("documents" in source) for (const path of paths) source.documents[0]?.positionOf(path);
  };
  const anchors = (size: number) => Array.from({ length: size }, (_, n) => `- &a${n} 1`).join("\n");
  test.each<[string, (size: number) => string]>([
    ["in YAML", (size) => `a:\n${"- { b: 1 }\n".repeat(size)}`],
    ["in YAML with many anchors", (size) => `a:\n${anchors(size)}`],
    ["in JSON", (size) => `{"a": [${'{"b": "\\""},'.repeat(size)}1]}`],
  ])("%s", (_, text) => expectLinear(text, find, 4_000));
});

test("the warnings for YAML text take little more time than parsing it", () => {
  const large = `on_http_request:\n${"- actions: [{ type: dney }]\n".repeat(1_800)}`;
  const parse = () => sourceDocuments(large);
  return expectTimes<() => unknown>(
    3,
    parse,
    () => resourceWarnings({ trafficPolicy: large }),
    (work) => work(),
  );
});
