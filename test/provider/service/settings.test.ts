import { expect, test } from "vitest";
import {
  ConfigError,
  environmentName,
  readSettings,
  type SettingName,
  type Settings,
  settingFields,
  settingsProblems,
} from "../../../provider/service/settings";
import { thrown } from "../emulated";

const environment = { ENDPOINTS_API_KEY: "env_key", ENDPOINTS_BASE_URL: "https://env.example.com" };
const from = (config: Partial<Record<SettingName, string>>) => (key: string) =>
  config[key.replace("endpoints:", "") as SettingName];

const PUBLIC = "https://api.ngrok.com";
const OTHER = "https://api.example.com";
test.each<[Partial<Record<SettingName, string>>, Partial<Settings>]>([
  [{}, { apiKey: "env_key", keySource: "environment", baseUrl: "https://env.example.com" }],
  [{ apiKey: "stack_key" }, { apiKey: "stack_key", keySource: "configuration" }],
  [{ baseUrl: `${OTHER}/api/v2//` }, { baseUrl: `${OTHER}/api/v2` }],
  [{ baseUrl: PUBLIC }, { versionHeader: "Ngrok-Version", listFilter: "on" }],
  [{ baseUrl: OTHER }, { versionHeader: "Service-Version", listFilter: "off" }],
  [
    { baseUrl: PUBLIC, versionHeader: "X-A", listFilter: "off" },
    { versionHeader: "X-A", listFilter: "off" },
  ],
  [{ baseUrl: OTHER, listFilter: "true" }, { listFilter: "on" }],
  [
    { requestsPerWindow: "40", windowSeconds: "0.5" },
    { requestsPerWindow: 40, windowSeconds: 0.5 },
  ],
])("the configuration %j over the environment results in %j", (config, settings) => {
  expect(readSettings(from(config), environment)).toMatchObject(settings);
});

const UP_TO_A_DAY = /number of seconds above zero and up to 86400/;
const HEADER_ADVICE =
  /not the name of a header: run `pulumi config set endpoints:versionHeader.*or correct ENDPOINTS_VERSION_HEADER/;

test.each<[string, SettingName, string | undefined, RegExp]>([
  ["no key", "apiKey", undefined, /no API key: set ENDPOINTS_API_KEY.*config set --secret endpoints:apiKey/],
  ["a key with a line break", "apiKey", "CANARY\nCANARY", /API key contains spaces, line breaks/],
  ["the public service without encryption", "baseUrl", "http://api.ngrok.com", /is not encrypted.*https:/],
  ["no base URL", "baseUrl", undefined, /set ENDPOINTS_BASE_URL.*config set endpoints:baseUrl/],
  ["another scheme", "baseUrl", "ftp://api.example.com", /neither https nor http/],
  ["credentials", "baseUrl", "https://u:CANARY@api.example.com", /contains credentials/],
  ["a time for which Node's timers would fire at once", "retryForSeconds", "9999999", UP_TO_A_DAY],
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

test("an empty variable of the environment counts as unset, for every optional setting", () => {
  const optional = Object.keys(settingFields).filter((name) => !["apiKey", "baseUrl"].includes(name));
  const empty = optional.map((name, index) => [environmentName(name), " ".repeat(index % 2)]);
  const settings = readSettings(from({}), { ...environment, ...Object.fromEntries(empty) });
  expect(settings).toEqual(readSettings(from({}), environment));
});

test("all problems of the settings are reported at once", () => {
  const config = from({ baseUrl: "localhost", windowSeconds: "soon" });
  const problems = settingsProblems(config, { ENDPOINTS_POLICY_WARNINGS: "perhaps" });
  const names = ["apiKey", "baseUrl", "windowSeconds", "policyWarnings"];
  expect(problems.map(({ setting }) => setting)).toEqual(names);
  const both = /^there is no API key: .*\nthere is no base URL of the service: .*$/;
  expect(() => readSettings(from({}), {})).toThrow(both);
  expect(settingsProblems(from({}), environment)).toEqual([]);
});
