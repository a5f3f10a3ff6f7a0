import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mistakesInPython } from "./pythonProgram";

const program = readFileSync(join(import.meta.dirname, "../../examples/python/__main__.py"), "utf8");

test("the Python example uses only names of the generated SDK, and gives every required argument", () => {
  expect(mistakesInPython(program)).toEqual([]);
});

test.each([
  ["endpoints.CloudEndpoint(", "endpoints.Endpoint(", "there is no Endpoint"],
  ["traffic_policy=", "trafficPolicy=", "CloudEndpoint has no parameter trafficPolicy"],
  ["url=f", "uri=f", "CloudEndpoint needs url"],
  ["get_endpoints(", "list_endpoints(", "there is no list_endpoints"],
  ["url_pattern=", "pattern=", "get_endpoints has no parameter pattern"],
  ["agent.url", "agent.address", "nothing has the attribute address"],
  ["door.public_url", "door.publicUrl", "nothing has the attribute publicUrl"],
])("the check finds the mistake if %s is replaced by %s", (right, wrong, mistake) => {
  expect(mistakesInPython(program.replace(right, wrong))).toContain(mistake);
});
