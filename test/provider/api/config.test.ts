import { expect, test } from "vitest";
import {
  ConfigError,
  environmentName,
  readSettings,
  settingFields,
  settingsProblems,
} from "../../../provider/api/config";

const environment = { ENDPOINTS_API_KEY: "env_key", ENDPOINTS_BASE_URL: "https://env.example.com" };
const from = (config: Record<string, string>) => (key: string) => config[key];

test("the stack's configuration has precedence over the environment", () => {
  const config = from({ "endpoints:apiKey": "stack_key", "endpoints:baseUrl": "https://stack.example.com" });
  expect(readSettings(config, environment)).toMatchObject({
    apiKey: "stack_key",
    apiKeyIsConfigured: true,
    baseUrl: "https://stack.example.com",
  });
  expect(readSettings(from({}), environment)).toMatchObject({ apiKey: "env_key", apiKeyIsConfigured: false });
});

test("a base URL keeps its path prefix and loses its trailing slashes", () => {
  const settings = readSettings(
    from({ "endpoints:baseUrl": "https://gateway.example.com/api/v2//" }),
    environment,
  );
  expect(settings.baseUrl).toBe("https://gateway.example.com/api/v2");
});

test("the version header is Ngrok-Version for the public service, and Service-Version for others", () => {
  const nameFor = (baseUrl: string) =>
    readSettings(from({ "endpoints:baseUrl": baseUrl }), environment).versionHeader;
  expect(nameFor("https://api.ngrok.com")).toBe("Ngrok-Version");
  expect(nameFor("https://api.ngrok.com.")).toBe("Ngrok-Version");
  expect(nameFor("https://api.example.com")).toBe("Service-Version");
  expect(readSettings(from({ "endpoints:versionHeader": "X-Version" }), environment).versionHeader).toBe(
    "X-Version",
  );
});

test.each([
  [
    "no key",
    { ENDPOINTS_API_KEY: undefined },
    "apiKey",
    /no API key: set ENDPOINTS_API_KEY.*config set --secret endpoints:apiKey/,
  ],
  ["a blank key", { ENDPOINTS_API_KEY: "  " }, "apiKey", /no API key/],
  [
    "a key with a line break",
    { ENDPOINTS_API_KEY: "CANARY\nCANARY" },
    "apiKey",
    /API key contains spaces, line breaks/,
  ],
  [
    "an invalid header name",
    { ENDPOINTS_VERSION_HEADER: "My Version" },
    "versionHeader",
    /not the name of a header: run `pulumi config set endpoints:versionHeader.*or correct ENDPOINTS_VERSION_HEADER/,
  ],
  [
    "no base URL",
    { ENDPOINTS_BASE_URL: undefined },
    "baseUrl",
    /set ENDPOINTS_BASE_URL.*config set endpoints:baseUrl/,
  ],
  ["a base URL without a scheme", { ENDPOINTS_BASE_URL: "localhost:8080" }, "baseUrl", /has no scheme/],
  ["a bare host", { ENDPOINTS_BASE_URL: "api.example.com" }, "baseUrl", /has no scheme/],
  ["another scheme", { ENDPOINTS_BASE_URL: "ftp://api.example.com" }, "baseUrl", /neither https nor http/],
  [
    "credentials",
    { ENDPOINTS_BASE_URL: "https://u:CANARY@api.example.com" },
    "baseUrl",
    /contains credentials/,
  ],
  ["a query", { ENDPOINTS_BASE_URL: "https://api.example.com?a=1" }, "baseUrl", /query/],
  [
    "a time that is not a number",
    { ENDPOINTS_RETRY_FOR_SECONDS: "soon" },
    "retryForSeconds",
    /number of seconds/,
  ],
  [
    "a time for which Node's timers would fire at once",
    { ENDPOINTS_RETRY_FOR_SECONDS: "9999999" },
    "retryForSeconds",
    /number of seconds above zero and up to 86400/,
  ],
  [
    "a budget of zero",
    { ENDPOINTS_REQUESTS_PER_WINDOW: "0" },
    "requestsPerWindow",
    /whole number above zero/,
  ],
  [
    "a budget with a fraction",
    { ENDPOINTS_REQUESTS_PER_WINDOW: "1.5" },
    "requestsPerWindow",
    /whole number above zero/,
  ],
  [
    "a time without a unit",
    { ENDPOINTS_RECOVER_WITHIN: "60" },
    "recoverWithin",
    /no time such as 90s, 30m, 1h/,
  ],
  ["a time of zero", { ENDPOINTS_RECOVER_WITHIN: "0h" }, "recoverWithin", /no time such as/],
])(
  "%s: the error names the configuration key and the variable, in one line",
  (_, change, setting, message) => {
    let error: unknown;
    try {
      readSettings(from({}), { ...environment, ...change });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ setting, message: expect.stringMatching(message) });
    expect((error as Error).message).toContain(environmentName(setting));
    expect((error as Error).message).toContain(`endpoints:${setting}`);
    expect((error as Error).message).not.toMatch(/\n|CANARY|env_key/);
  },
);

test("by default, the budget is that of the public service, and leftovers are not taken over", () => {
  expect(readSettings(from({}), environment)).toMatchObject({
    requestsPerWindow: 120,
    windowSeconds: 60,
    recoverWithin: undefined,
  });
  const config = {
    "endpoints:requestsPerWindow": "40",
    "endpoints:windowSeconds": "0.5",
    "endpoints:recoverWithin": "1.5h",
  };
  expect(readSettings(from(config), environment)).toMatchObject({
    requestsPerWindow: 40,
    windowSeconds: 0.5,
    recoverWithin: 5400,
  });
});

test("an empty variable of the environment counts as unset, for every optional setting", () => {
  const optional = Object.keys(settingFields).filter((name) => !["apiKey", "baseUrl"].includes(name));
  const empty = Object.fromEntries(
    optional.map((name, index) => [environmentName(name), " ".repeat(index % 2)]),
  );
  expect(readSettings(from({}), { ...environment, ...empty })).toEqual(readSettings(from({}), environment));
});

test("all problems of the settings are reported at once", () => {
  const config = from({ "endpoints:baseUrl": "localhost", "endpoints:windowSeconds": "soon" });
  const problems = settingsProblems(config, { ENDPOINTS_RECOVER_WITHIN: "forever" });
  expect(problems.map(({ setting }) => setting)).toEqual([
    "apiKey",
    "baseUrl",
    "windowSeconds",
    "recoverWithin",
  ]);
  expect(() => readSettings(from({}), {})).toThrow(
    /there is no API key: .*; there is no base URL of the service: /,
  );
  expect(settingsProblems(from({}), environment)).toEqual([]);
});
