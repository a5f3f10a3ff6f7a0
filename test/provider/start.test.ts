import { expect, test } from "vitest";
import { inNewProcess, LOADED, PROVIDER } from "./newProcess";

/* The cost of a start: Pulumi starts a provider for each phase of a command. */

test("the provider's start, a check and a diff load no HTTP client, no YAML parser and no Pulumi, and leave nothing open", async () => {
  const script = `const provider = require(process.argv[1]);
    const running = process.getActiveResourcesInfo().filter((kind) => kind !== "PipeWrap");
    const packages = ${LOADED};
    const settings = { "endpoints:apiKey": "key", "endpoints:baseUrl": "http://127.0.0.1:9" };
    provider.configure({ config: { get: (key) => settings[key] } });
    const news = { url: "https://shop.example.com", trafficPolicy: { on_http_request: [] } };
    provider.check({}, news)
      .then(({ inputs }) => provider.diff("ep_1", { url: "https://old.example.com" }, inputs))
      .then(({ changes }) => console.log(JSON.stringify({ running, packages, changes, later: ${LOADED} })));`;
  expect(await inNewProcess(script, PROVIDER)).toEqual({
    running: [],
    packages: ["zod"],
    changes: true,
    later: ["zod"],
  });
});
