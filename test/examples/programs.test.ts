import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mistakesInPython } from "./pythonProgram";
import { mistakesInYaml } from "./yamlProgram";

/* The examples in other languages, held against the package schema where there is no Pulumi to run them. */

const example = (file: string) => readFileSync(join(import.meta.dirname, "../../examples", file), "utf8");

test("the YAML example names only what the package has, and gives all that it demands", () => {
  expect(mistakesInYaml(example("yaml/Pulumi.yaml"))).toEqual([]);
});

test("the Python example names only what the generated SDK has, and gives all that it demands", () => {
  expect(mistakesInPython(example("python/__main__.py"))).toEqual([]);
});

test.each([
  ["type: endpoints:CloudEndpoint", "type: endpoints:Endpoint", "there is no endpoints:Endpoint"],
  ["url: https://hooks.example.com", "uri: x", "endpoints:CloudEndpoint takes no uri"],
  ["url: https://hooks.example.com", "bindings: []", "endpoints:CloudEndpoint is given no url"],
  ["apiKey:", "key:", "pulumi:providers:endpoints takes no key"],
  ["endpoints:getEndpoints", "endpoints:listEndpoints", "there is no endpoints:listEndpoints"],
  ["types: [ephemeral]", "type: ephemeral", "endpoints:getEndpoints takes no type"],
  ["return: ids", "return: urls", "endpoints:getEndpoints gives no urls"],
  ["hooks.publicUrl", "hooks.public_url", "hooks has no public_url"],
  ["hooks.publicUrl", "hook.publicUrl", "nothing is called hook"],
])("a YAML program with %s as %s is found out: %s", (right, wrong, mistake) => {
  expect(mistakesInYaml(example("yaml/Pulumi.yaml").replace(right, wrong))).toContain(mistake);
});

test.each([
  ["endpoints.CloudEndpoint(", "endpoints.Endpoint(", "there is no Endpoint"],
  ["traffic_policy=", "trafficPolicy=", "CloudEndpoint takes no trafficPolicy"],
  ["url=f", "uri=f", "CloudEndpoint is given no url"],
  ["get_endpoints(", "list_endpoints(", "there is no list_endpoints"],
  ["url_pattern=", "pattern=", "get_endpoints takes no pattern"],
  ["agent.url", "agent.address", "nothing has the attribute address"],
  ["door.public_url", "door.publicUrl", "nothing has the attribute publicUrl"],
])("a Python program with %s as %s is found out: %s", (right, wrong, mistake) => {
  expect(mistakesInPython(example("python/__main__.py").replace(right, wrong))).toContain(mistake);
});
