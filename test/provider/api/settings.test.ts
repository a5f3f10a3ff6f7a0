import { expect, test } from "vitest";
import {
  ConfigError,
  environmentName,
  readSettings,
  type SettingName,
  settingFields,
  settingsProblems,
} from "../../../provider/api/settings";
import { thrown } from "../service";

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
  const config = from({ "endpoints:baseUrl": "https://gateway.example.com/api/v2//" });
  expect(readSettings(config, environment).baseUrl).toBe("https://gateway.example.com/api/v2");
});

test("the version header is Ngrok-Version for the public service, and Service-Version for others", () => {
  const nameFor = (config: Record<string, string>) => readSettings(from(config), environment).versionHeader;
  expect(nameFor({ "endpoints:baseUrl": "https://api.ngrok.com" })).toBe("Ngrok-Version");
  expect(nameFor({ "endpoints:baseUrl": "https://api.ngrok.com." })).toBe("Ngrok-Version");
  expect(nameFor({ "endpoints:baseUrl": "https://api.example.com" })).toBe("Service-Version");
  expect(nameFor({ "endpoints:versionHeader": "X-Version" })).toBe("X-Version");
});

test.each([
  ["https://api.ngrok.com", undefined, "on"],
  ["https://api.ngrok.com", "off", "off"],
  ["https://api.example.com", undefined, "off"],
  ["https://api.example.com", "true", "on"],
])("lists of %s with listFilter %s are filtered: %s", (baseUrl, listFilter, expected) => {
  const config = { "endpoints:baseUrl": baseUrl, ...(listFilter && { "endpoints:listFilter": listFilter }) };
  expect(readSettings(from(config), environment).listFilter).toBe(expected);
});

const UP_TO_A_DAY = /number of seconds above zero and up to 86400/;
const HEADER_ADVICE =
  /not the name of a header: run `pulumi config set endpoints:versionHeader.*or correct ENDPOINTS_VERSION_HEADER/;

test.each<[string, SettingName, string | undefined, RegExp]>([
  ["no key", "apiKey", undefined, /no API key: set ENDPOINTS_API_KEY.*config set --secret endpoints:apiKey/],
  ["a blank key", "apiKey", "  ", /no API key/],
  ["a key with a line break", "apiKey", "CANARY\nCANARY", /API key contains spaces, line breaks/],
  ["no base URL", "baseUrl", undefined, /set ENDPOINTS_BASE_URL.*config set endpoints:baseUrl/],
  ["a base URL without a scheme", "baseUrl", "localhost:8080", /has no scheme/],
  ["a bare host", "baseUrl", "api.example.com", /has no scheme/],
  ["another scheme", "baseUrl", "ftp://api.example.com", /neither https nor http/],
  ["credentials", "baseUrl", "https://u:CANARY@api.example.com", /contains credentials/],
  ["a query", "baseUrl", "https://api.example.com?a=1", /query/],
  ["a time that is not a number", "retryForSeconds", "soon", /number of seconds/],
  ["a time for which Node's timers would fire at once", "retryForSeconds", "9999999", UP_TO_A_DAY],
  ["a budget of zero", "requestsPerWindow", "0", /whole number above zero/],
  ["a budget with a fraction", "requestsPerWindow", "1.5", /whole number above zero/],
  ["a switch with another word", "listFilter", "maybe", /neither on nor off/],
  ["an invalid header name", "versionHeader", "My Version", HEADER_ADVICE],
])(
  "%s: the error names the configuration key and the variable, in one line",
  async (_, setting, value, reason) => {
    const read = async () => readSettings(from({}), { ...environment, [environmentName(setting)]: value });
    const error = await thrown(read());
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ setting, message: expect.stringMatching(reason) });
    expect(error.message).toContain(environmentName(setting));
    expect(error.message).toContain(`endpoints:${setting}`);
    expect(error.message).not.toMatch(/\n|CANARY|env_key/);
  },
);

test("by default, the budget is that of the public service", () => {
  expect(readSettings(from({}), environment)).toMatchObject({
    requestsPerWindow: 120,
    windowSeconds: 60,
  });
  const config = {
    "endpoints:requestsPerWindow": "40",
    "endpoints:windowSeconds": "0.5",
  };
  expect(readSettings(from(config), environment)).toMatchObject({
    requestsPerWindow: 40,
    windowSeconds: 0.5,
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
  const problems = settingsProblems(config, { ENDPOINTS_POLICY_WARNINGS: "perhaps" });
  expect(problems.map(({ setting }) => setting)).toEqual([
    "apiKey",
    "baseUrl",
    "windowSeconds",
    "policyWarnings",
  ]);
  expect(() => readSettings(from({}), {})).toThrow(
    /^there is no API key: .*\nthere is no base URL of the service: .*$/,
  );
  expect(settingsProblems(from({}), environment)).toEqual([]);
});
