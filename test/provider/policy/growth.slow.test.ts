import { describe, test } from "vitest";
import type { Path } from "../../../provider/endpoint/documents";
import { sourceDocuments } from "../../../provider/policy/positions";
import { resourceWarnings } from "../../../provider/policy/resourceWarnings";
import { policyWarnings } from "../../../provider/policy/warnings";
import { expectLinear, expectTimes } from "../../growth";
import { act, onRequest, rule } from "./cases";

describe("the warnings take linear time for a policy", () => {
  const right = rule(act("add-headers", { headers: { a: "b" } }), act("log", { metadata: { a: 1 } }));
  test.each<[string, (size: number) => unknown]>([
    ["of rules", (size) => onRequest(...Array.from({ length: size }, () => right))],
    ["of actions", (size) => onRequest(rule(...Array.from({ length: size }, () => act("deny"))))],
    ["of rules that answer", (size) => onRequest(...Array.from({ length: size }, () => rule(act("deny"))))],
    ["of unknown actions", (size) => onRequest(...Array.from({ length: size }, () => rule(act("dney"))))],
    [
      "of unknown phases",
      (size) => Object.fromEntries(Array.from({ length: size }, (_, n) => [`p${n}`, []])),
    ],
    [
      "of an expression with many names",
      (size) => onRequest({ ...rule(act("deny")), expressions: [`vars${".a".repeat(size / 10)} == 1`] }),
    ],
    ["of long names", (size) => onRequest(rule(act("x".repeat(size * 10), { ["y".repeat(size)]: 1 })))],
  ])("%s", (_, policy) => expectLinear(policy, (made) => policyWarnings(made, { isCloud: true }), 20_000));
});

describe("positions take linear time to find", () => {
  const paths: Path[] = [["a", 0], ["a", 1, "b"], ["x"]];
  const find = (text: string) => {
    const source = sourceDocuments(text);
    if ("documents" in source) for (const path of paths) source.documents[0]?.positionOf(path);
  };
  test.each<[string, (size: number) => string]>([
    ["in YAML", (size) => `a:\n${"- { b: 1 }\n".repeat(size)}`],
    [
      "in YAML with many anchors",
      (size) => `a:\n${Array.from({ length: size }, (_, n) => `- &a${n} 1`).join("\n")}`,
    ],
    ["in JSON", (size) => `{"a": [${'{"b": "\\""},'.repeat(size)}1]}`],
  ])("%s", (_, text) => expectLinear(text, find, 4_000));
});

test("the warnings for YAML text take little more time than parsing it", () => {
  const large = `on_http_request:\n${"- actions: [{ type: dney }]\n".repeat(1_800)}`;
  return expectTimes<() => unknown>(
    3,
    () => sourceDocuments(large),
    () => resourceWarnings({ trafficPolicy: large }),
    (work) => work(),
  );
});
