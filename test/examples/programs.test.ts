import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
// This example is a test itself.
import "../../examples/policy-tests/policy.test";
import { mistakesInPython } from "./pythonProgram";

const program = readFileSync(join(import.meta.dirname, "../../examples/python/__main__.py"), "utf8");

test("the Python example uses only names of the generated SDK", () => {
  expect(mistakesInPython(program)).toEqual([]);
});

test.each([
  ["endpoints.CloudEndpoint(", "endpoints.Endpoint(", "class or function Endpoint"],
  ["traffic_policy=", "trafficPolicy=", "parameter trafficPolicy"],
  ["get_endpoints(", "list_endpoints(", "class or function list_endpoints"],
  ["url_pattern=", "pattern=", "parameter pattern"],
  ["agent.url", "agent.address", "attribute address"],
  ["door.public_url", "door.publicUrl", "attribute publicUrl"],
])("the check finds the mistake if %s is replaced by %s", (right, wrong, mistake) => {
  expect(mistakesInPython(program.replace(right, wrong))).toContain(`there is no ${mistake}`);
});
