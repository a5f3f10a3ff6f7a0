import { jsonOf } from "../data/index";
import { type KeySource, UserError } from "./apiErrors";
import { VERSION } from "./version";

/** A missing or invalid setting. The message has both of its names, and never its value. */
export class ConfigError extends UserError {
  constructor(
    readonly setting: SettingName,
    /** The message without the remedy. */
    readonly what: string,
    remedy?: string,
  ) {
    super(remedy === undefined ? what : `${what}: ${remedy}`);
  }
}

/** A required setting that is not set. */
export class MissingSetting extends ConfigError {}

/** Returns the value of a full configuration key (`endpoints:apiKey`); undefined if the stack has none. */
export type ConfigReader = (key: string) => string | undefined;

/** The text of a setting among a provider's inputs. A generated SDK writes a setting with an enum as JSON text. */
export function settingText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const data = jsonOf(String(value));
  return typeof data === "string" ? data : String(value);
}

const PUBLIC_SERVICE = "api.ngrok.com";

/** Whether the base URL is the public service's, which requires more than the contract does. */
const isPublicService = (baseUrl: string): boolean =>
  // A host name may end with the dot of the root.
  new URL(baseUrl).hostname.replace(/\.$/, "") === PUBLIC_SERVICE;

/**
 * All settings: `endpoints:apiKey` in the stack's configuration is `ENDPOINTS_API_KEY` in the environment, and so on. The
 * comment on a setting is its documentation. Its function converts the written value.
 */
export const settingFields = {
  /** The API key of the account. */
  apiKey: (given: string | undefined): string => {
    if (!given) throw missing("apiKey", "there is no API key", "<key>");
    if (/^[\x21-\x7e]+$/.test(given)) return given;
    const what = "the API key contains spaces, line breaks or other characters that no key has";
    throw invalid("apiKey", what, "<key>");
  },

  /** The URL of the service's API, with its path prefix if it has one: `https://api.ngrok.com`. */
  baseUrl: (given: string | undefined): string => {
    const example = `https://${PUBLIC_SERVICE}`;
    if (!given) throw missing("baseUrl", "there is no base URL of the service", example);
    return checkedBaseUrl(given);
  },

  /**
   * The name of the header that carries the API version, `2`. Default: `Ngrok-Version` for the host `api.ngrok.com`,
   * `Service-Version` for any other host.
   */
  versionHeader: (given: string | undefined): string | undefined => {
    if (given === undefined || /^[\w-]+$/.test(given)) return given;
    throw invalid("versionHeader", "versionHeader is not the name of a header", "Service-Version");
  },

  /** How long a request is repeated after temporary failures, in seconds, at most a day. Default: 120. */
  retryForSeconds: (given: string | undefined): number => seconds("retryForSeconds", given, 120),

  /**
   * How long to wait for a connection, for a reply's headers, and between parts of its body (each), in seconds, at most a day.
   * Default: 30.
   */
  timeoutSeconds: (given: string | undefined): number => seconds("timeoutSeconds", given, 30),

  /** The most requests that one process sends in any window. Default: 120. */
  requestsPerWindow: (given = "120"): number => {
    if (/^[1-9]\d{0,8}$/.test(given)) return Number(given);
    throw invalid("requestsPerWindow", "requestsPerWindow is not a whole number above zero", "120");
  },

  /** The window's length, in seconds, at most a day. Default: 60. */
  windowSeconds: (given: string | undefined): number => seconds("windowSeconds", given, 60),

  /**
   * Whether lists are requested with the parameter `filter`, which the published OpenAPI document does not have: `on` or `off`.
   * With it, an account's other endpoints cost no requests. Default: `on` for the host `api.ngrok.com`, `off` for any other host.
   */
  listFilter: (given: string | undefined): "on" | "off" | undefined =>
    onOrOff("listFilter", given, "neither on nor off"),

  /**
   * What a preview does about probable mistakes in traffic policies: `on` warns, `error` fails, `off` does nothing.
   * Default: `on`.
   */
  policyWarnings: (given: string | undefined): "on" | "error" | "off" => {
    if (given !== undefined && /^error$/i.test(given)) return "error";
    return onOrOff("policyWarnings", given, "neither on, error nor off") ?? "on";
  },
};
export type SettingName = keyof typeof settingFields;

type Values = { [Name in SettingName]: ReturnType<(typeof settingFields)[Name]> };

/** The values of all settings; times in seconds. */
export type Settings = Values & {
  versionHeader: string;
  listFilter: "on" | "off";
  keySource: KeySource;
  userAgent: string;
  /** `endpoints:adopt`: the ids of endpoints that new resources of this stack take over. */
  adopt: readonly string[];
};

/** The settings that must not be shown. */
export const secretSettings: readonly string[] = ["apiKey"] satisfies SettingName[];

/**
 * Reads every setting. The stack's configuration wins over the environment, so a stray shell key cannot redirect a stack
 * to another account.
 *
 * @throws ConfigError if settings are missing or invalid, with a line for each of them.
 */
export function readSettings(config: ConfigReader, environment: NodeJS.ProcessEnv = process.env): Settings {
  const { values, problems } = parseAll(config, environment);
  const [first] = problems;
  if (first) throw new ConfigError(first.setting, problems.map(({ message }) => message).join("\n"));
  // Without a problem, every setting has its value.
  const { versionHeader, listFilter, ...settings } = values as Values;
  const isPublic = isPublicService(settings.baseUrl);
  return {
    ...settings,
    keySource: config("endpoints:apiKey")?.trim() ? "configuration" : "environment",
    userAgent: `pulumi-endpoints/${VERSION}`,
    versionHeader: versionHeader ?? (isPublic ? "Ngrok-Version" : "Service-Version"),
    listFilter: listFilter ?? (isPublic ? "on" : "off"),
    adopt: adoptIn(config),
  };
}

/**
 * The ids in `endpoints:adopt`. It belongs to one stack, so neither the environment nor a provider's argument can set it.
 *
 * @throws UserError if it is no list of ids.
 */
function adoptIn(config: ConfigReader): string[] {
  const ids = (config("endpoints:adopt") ?? "").split(/[\s,"[\]]+/).filter((item) => item !== "");
  if (ids.every((id) => /^ep_\w+$/.test(id))) return ids;
  throw new UserError(
    "endpoints:adopt is no list of endpoints' ids, such as ep_1,ep_2: correct it, or run `pulumi config rm endpoints:adopt`",
  );
}

/** Where to put another key, for messages. */
export const placeOfKey = ({ keySource }: Pick<Settings, "keySource">): string =>
  keySource === "argument" ? "the argument apiKey of the provider" : "endpoints:apiKey or ENDPOINTS_API_KEY";

/** All problems of the settings. */
export const settingsProblems = (
  config: ConfigReader,
  environment: NodeJS.ProcessEnv = process.env,
): ConfigError[] => parseAll(config, environment).problems;

/** What to do about probable mistakes in policies. `readSettings` reports a value that is none of the three. */
export const policyWarningsMode = (
  config: ConfigReader,
  environment: NodeJS.ProcessEnv = process.env,
): Settings["policyWarnings"] => parseAll(config, environment).values.policyWarnings ?? "on";

/** Whether the service is the public one. `readSettings` reports a base URL that is missing or invalid. */
export function isPublicBaseUrl(config: ConfigReader, environment: NodeJS.ProcessEnv = process.env): boolean {
  const { baseUrl } = parseAll(config, environment).values;
  return baseUrl !== undefined && isPublicService(baseUrl);
}

/** The values of the valid settings, and the problems of the others. */
function parseAll(config: ConfigReader, environment: NodeJS.ProcessEnv) {
  const values: Record<string, unknown> = {};
  const problems: ConfigError[] = [];
  for (const [name, parse] of Object.entries(settingFields)) {
    const written = config(`endpoints:${name}`)?.trim() || environment[environmentName(name)]?.trim();
    try {
      values[name] = parse(written || undefined);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(error);
    }
  }
  return { values: values as Partial<Values>, problems };
}

const missing = (setting: SettingName, what: string, example: string) =>
  new MissingSetting(
    setting,
    what,
    `set ${environmentName(setting)} in the shell's environment, or run \`${commandFor(setting, example)}\`; the provider reads these two, and no .env that the program loads`,
  );

const invalid = (setting: SettingName, what: string, example: string) =>
  new ConfigError(
    setting,
    what,
    `run \`${commandFor(setting, example)}\`, or correct ${environmentName(setting)}; the stack's configuration wins over the environment`,
  );

/** Every setting has both names by one rule: `endpoints:baseUrl` is `ENDPOINTS_BASE_URL`. */
export function environmentName(setting: string): string {
  return `ENDPOINTS_${setting.replace(/[A-Z]/g, "_$&").toUpperCase()}`;
}

const commandFor = (setting: SettingName, example: string): string =>
  `pulumi config set${secretSettings.includes(setting) ? " --secret" : ""} endpoints:${setting} ${example}`;

function checkedBaseUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const wrong = (what: string) => invalid("baseUrl", `the base URL ${what}`, `https://${PUBLIC_SERVICE}`);
  // `localhost:8080` parses as a URL with the scheme `localhost:`, so the slashes are required.
  if (!url || !/^[a-z][a-z0-9+.-]*:\/\//i.test(given)) throw wrong("has no scheme, or is no URL");
  if (url.protocol !== "https:" && url.protocol !== "http:") throw wrong("is neither https nor http");
  if (url.username || url.password) throw wrong("contains credentials; use the API key instead");
  if (url.search || url.hash) throw wrong("has a query or a fragment");
  if (url.protocol === "http:" && isPublicService(given))
    throw wrong("is not encrypted, and would reveal the API key");
  return url.href.replace(/\/+$/, "");
}

/** A day, in seconds. Node's timers fire at once for times of more than 24 days. */
const MAX_TIME = 86_400;

function seconds(name: SettingName, given: string | undefined, defaultValue: number): number {
  if (given === undefined) return defaultValue;
  const value = Number(given);
  if (value > 0 && value <= MAX_TIME) return value;
  const what = `${name} is not a number of seconds above zero and up to ${MAX_TIME}`;
  throw invalid(name, what, String(defaultValue));
}

/** Some YAML parsers read `on` and `off` as booleans. */
function onOrOff(name: SettingName, given: string | undefined, not: string): "on" | "off" | undefined {
  if (given === undefined) return undefined;
  if (/^(on|true)$/i.test(given)) return "on";
  if (/^(off|false)$/i.test(given)) return "off";
  throw invalid(name, `${name} is ${not}`, "off");
}
