import { expect, test } from "vitest";
import { edit, errors, failure, methods, onBothDrivers } from "./setup";

const CANARY = "CANARY-77ab";

/** A key that no account has. No message may contain it. */
const WRONG_KEY = "2abcdefghijklmnopqrstuvwxyzA_CANARYabcdefghijklmno";

onBothDrivers("mistakes in a program", (start) => {
  test.each(["dynamic", "plugin"])(
    "are all shown by one preview of the %s provider, one line for each, without a request",
    async (provider) => {
      const program = `
const url = (n) => "https://" + n + ".example.com";
new CloudEndpoint("a", { url: "nonsense", metadata: 7 });
new CloudEndpoint("b", { url: "ftp://b.example.com", bindings: ["public", "public"] });
new CloudEndpoint("c", { url: url("c") + "/path", description: "x".repeat(300) });
new CloudEndpoint("d", { url: "https://user:${CANARY}@d.example.com", trafficPolicy: '{"a": ' });
new CloudEndpoint("e", { url: "tcp://e.example.com" });
new CloudEndpoint("f", {});
new CloudEndpoint("g", { url: url("same") });
new CloudEndpoint("h", { url: "HTTPS://SAME.example.com:443/" });`;
      const stack = await start(program, { env: { ENDPOINTS_PROVIDER: provider } });
      const { text, requests, diagnostics } = await failure(stack.preview());
      // The engine reports the mistakes of the first resource.
      const lines = diagnostics.map(({ message }) =>
        message.replace(/^\S+:CloudEndpoint resource/, "resource"),
      );
      expect(lines.sort()).toEqual([
        expect.stringMatching(/^b: bindings has a duplicate at \[1\]/),
        expect.stringMatching(/^b: url has a scheme that no endpoint serves/),
        expect.stringMatching(/^c: description must have at most 255/),
        expect.stringMatching(/^c: url has a path/),
        expect.stringMatching(/^d: trafficPolicy is not valid JSON/),
        expect.stringMatching(/^d: url contains credentials/),
        expect.stringMatching(/^e: url has no port; tcp needs one/),
        expect.stringMatching(/^f: url is missing/),
        expect.stringMatching(/^h: the url is also that of g/),
        expect.stringMatching(/^resource 'a' has a problem: metadata must be an object or text/),
        expect.stringMatching(/^resource 'a' has a problem: url is not a URL/),
      ]);
      expect(text).not.toContain(CANARY);
      expect(requests).toEqual([]);
    },
  );

  test.each(["dynamic", "plugin"])(
    "that came about by putting outputs and promises into texts are shown by the %s provider, and keep no existing endpoint from refresh and destroy",
    async (provider) => {
      const endpoint = (description: string, metadata = '"plain"') =>
        `new CloudEndpoint("shop", { url: "https://shop.example.com", description: ${description}, metadata: ${metadata} });`;
      const stack = await start(endpoint('"plain"'), { env: { ENDPOINTS_PROVIDER: provider } });
      await stack.up();
      const [live] = stack.emulator.endpoints;
      stack.emulator.edit(live?.id ?? "", { description: "of [object Promise]" });
      await stack.refresh();

      edit(
        stack,
        `${endpoint('"of " + pulumi.output(1)', '{ key: pulumi.secret("CANARY " + Promise.resolve()) }')}
         new CloudEndpoint("other", { url: "https://" + [].host + ".example.com" });`,
      );
      const { diagnostics, requests, text } = await failure(stack.preview());
      const mistakes = diagnostics.map(({ message }) => message).join("\n");
      expect(mistakes).toMatch(/description contains an output used as text; .*pulumi\.interpolate/);
      expect(mistakes).toMatch(/metadata contains at key a promise used as text/);
      expect(mistakes).toMatch(/other: url has undefined as a part of its host/);
      expect(text).not.toContain("CANARY");
      expect(methods({ requests })).toEqual([]);
      await stack.refresh();
      await stack.destroy();
      expect(stack.emulator.endpoints).toEqual([]);
    },
  );

  test.each(["dynamic", "plugin"])(
    "in the id of a get are shown by the %s provider in one line",
    async (provider) => {
      const stack = await start(`CloudEndpoint.get("theirs", "ep_nobody");`, {
        env: { ENDPOINTS_PROVIDER: provider },
      });
      const { text } = await failure(stack.preview());
      // A terminal shows the line beside the resource and again below.
      const [, below] = text.split("Diagnostics:");
      expect(below?.match(/.*ep_nobody.*/g)).toEqual([
        expect.stringMatching(
          /error: Preview failed: cannot read ep_nobody: There is no endpoint ep_nobody in this account\. Correct the id/,
        ),
      ]);
    },
  );

  test("that stop an up lose no created endpoint, and after the correction the next up adopts the rest", async () => {
    const program = (second: string) => `
const first = new CloudEndpoint("first", { url: "https://first.example.com" });
new CloudEndpoint("second", { url: "https://second.example.com", ${second} }, { dependsOn: [first] });`;
    const stack = await start(program(""));
    stack.emulator.seed({ type: "cloud", url: "https://second.example.com", id: "ep_theirs" });
    const result = await failure(stack.up());
    expect(result.requests.map(({ method, status }) => [method, status])).toEqual([
      ["POST", 201],
      ["POST", 400],
      // The list, and the endpoint with the URL: at once, and after a wait for a resource that leaves the URL.
      ["GET", 200],
      ["GET", 200],
      ["GET", 200],
    ]);
    expect(errors(result).join()).toMatch(
      /is served by ep_theirs, a cloud endpoint, created at .*set adopt: "ep_theirs"/,
    );
    edit(stack, program("adopt: true"));
    const up = await stack.up();
    expect(methods(up).filter((method) => method !== "GET")).toEqual([]);
    expect(stack.emulator.endpoints).toHaveLength(2);
  });
});

onBothDrivers("the settings", (start) => {
  const program = `new CloudEndpoint("shop", { url: "https://shop.example.com" });`;

  test("fail with one line and the next step if they are wrong", async () => {
    for (const [config, env, message] of [
      [
        { "endpoints:apiKey": { secret: WRONG_KEY } },
        {},
        /403.*API key was refused.*config set --secret endpoints:apiKey.*ENDPOINTS_API_KEY/,
      ],
      [
        { "endpoints:apiKey": "" },
        {},
        /no API key: set ENDPOINTS_API_KEY in the environment.*config set --secret endpoints:apiKey/,
      ],
      [
        { "endpoints:baseUrl": "http://127.0.0.1:9", "endpoints:retryForSeconds": "0.1" },
        {},
        /ECONNREFUSED.*Nothing listens on .*start the emulator.*correct endpoints:baseUrl/,
      ],
      [{ "endpoints:baseUrl": "127.0.0.1:9" }, {}, /base URL has no scheme.*ENDPOINTS_BASE_URL/],
    ] as const) {
      const stack = await start(program, { config, env });
      const result = await failure(stack.up({ skipPreview: false }));
      const lines = errors(result).filter((error) => message.test(error));
      expect(lines).toHaveLength(1);
      expect(lines[0]).not.toMatch(/\n\s+at /);
      expect(result.text).not.toContain(WRONG_KEY);
      expect(result.text).not.toMatch(/\n\s+at .*\(/);
    }
  });

  test("cause one warning for a key in plain text, one for a misspelt setting or namespace, and none for those of others", async () => {
    const two = `${program} new CloudEndpoint("other", { url: "https://other.example.com" });`;
    const stack = await start(two, {
      config: {
        "endpoints:apiKey": "plain-key",
        "endpoints:requestPerWindow": "3",
        "endpoints:owner": "me",
        "endpoint:versionHeader": "Service-Version",
        "endponts:WindowSECONDS": "3",
        "ngrok:timeoutSeconds": "3",
        // Those of other packages, of the program itself, and one beside the right one.
        "ngrok:apiKey": { secret: "theirs" },
        "ngrok:requestPerWindow": "3",
        "entrypoint:version": "2",
        "vendor:baseUrl": "https://api.example.com",
        "case:baseUrl": "https://api.example.com",
        "endpoint:apiKey": { secret: "old" },
      },
    });
    const { diagnostics, text } = await stack.preview();
    const warnings = diagnostics.filter(({ severity }) => severity === "warning");
    expect(warnings.map(({ message }) => message).sort()).toEqual([
      expect.stringMatching(/^endpoint:versionHeader is no setting; did you mean endpoints:versionHeader\?/),
      expect.stringMatching(/plain text.*config set --secret endpoints:apiKey/),
      expect.stringMatching(
        /^endpoints:requestPerWindow is no setting; did you mean endpoints:requestsPerWindow\?/,
      ),
      expect.stringMatching(/^endponts:WindowSECONDS is no setting; did you mean endpoints:windowSeconds\?/),
      expect.stringMatching(/^ngrok:timeoutSeconds is no setting; did you mean endpoints:timeoutSeconds\?/),
    ]);
    expect(text).not.toContain("plain-key");
  });
});
