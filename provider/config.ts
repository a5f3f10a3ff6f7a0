import { UserError } from "./userError";

/** Where the settings come from: the stack's configuration (`endpoints:…`), then the environment (`ENDPOINTS_…`). */
export interface Settings {
  apiKey: string;
  /** Whether the key came from the stack's configuration; a refused one then has a remedy of its own. */
  apiKeyIsConfigured: boolean;
  /** With its path prefix, without a trailing slash. */
  baseUrl: string;
  /** The name of the header that carries the API's version. */
  versionHeader: string;
  /** How long a request is tried again after passing faults, in seconds. */
  retryForSeconds: number;
  /** How long to wait for a connection, for a reply's head, and between parts of its body: each, in seconds. */
  timeoutSeconds: number;
  /** How many requests this process sends in any window, at most. */
  requestsPerWindow: number;
  /** The window's length, in seconds. */
  windowSeconds: number;
  /** Up to which age an endpoint is taken over that a killed run left behind, in seconds; undefined for never. */
  recoverWithinSeconds: number | undefined;
}

/** A setting that is missing or cannot be used. The message names both of its names, and never its value. */
export class ConfigError extends UserError {
  override readonly name = "ConfigError";
  constructor(
    readonly setting: string,
    what: string,
    remedy: string,
  ) {
    super(`${what}: ${remedy}`);
  }
}

/** Gives the value of a full configuration key (`endpoints:apiKey`); undefined where the stack has none. */
export type ConfigReader = (key: string) => string | undefined;

const PUBLIC_SERVICE = "api.ngrok.com";

/**
 * Reads every setting. The stack's configuration wins over the environment, so that a key left in somebody's shell
 * never turns a stack on another account.
 *
 * @throws ConfigError where a setting is missing or cannot be used.
 */
export function readSettings(config: ConfigReader, environment: NodeJS.ProcessEnv = process.env): Settings {
  const read = (name: string) =>
    config(`endpoints:${name}`)?.trim() || environment[environmentName(name)]?.trim();

  const apiKey = read("apiKey");
  if (!apiKey) {
    throw new ConfigError("apiKey", "there is no API key", howToSet("apiKey", "<key>", { secret: true }));
  }
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    const what = "the API key holds spaces, line breaks or other characters that no key has";
    throw new ConfigError("apiKey", what, howToSet("apiKey", "<key>", { secret: true }));
  }
  const given = read("baseUrl");
  if (!given) {
    throw new ConfigError(
      "baseUrl",
      "there is no base URL of the service",
      howToSet("baseUrl", `https://${PUBLIC_SERVICE}`),
    );
  }
  const baseUrl = parseBaseUrl(given);
  const standard = baseUrl.hostname === PUBLIC_SERVICE ? "Ngrok-Version" : "Service-Version";
  const versionHeader = read("versionHeader") ?? standard;
  if (!/^[\w-]+$/.test(versionHeader)) {
    throw new ConfigError(
      "versionHeader",
      "versionHeader is not the name of a header",
      howToSet("versionHeader", standard),
    );
  }
  return {
    apiKey,
    apiKeyIsConfigured: Boolean(config("endpoints:apiKey")?.trim()),
    baseUrl: baseUrl.href.replace(/\/+$/, ""),
    versionHeader,
    retryForSeconds: seconds("retryForSeconds", read("retryForSeconds"), 120),
    timeoutSeconds: seconds("timeoutSeconds", read("timeoutSeconds"), 30),
    requestsPerWindow: requests("requestsPerWindow", read("requestsPerWindow"), 120),
    windowSeconds: seconds("windowSeconds", read("windowSeconds"), 60),
    recoverWithinSeconds: duration("recoverWithin", read("recoverWithin")),
  };
}

/** Every setting has both names by one rule: `endpoints:baseUrl` is `ENDPOINTS_BASE_URL`. */
export function environmentName(setting: string): string {
  return `ENDPOINTS_${setting.replace(/[A-Z]/g, "_$&").toUpperCase()}`;
}

/** How to set a setting, in both ways. */
export function howToSet(setting: string, example: string, options: { secret?: boolean } = {}): string {
  const flag = options.secret ? " --secret" : "";
  return `set ${environmentName(setting)} in the environment, or run \`pulumi config set${flag} endpoints:${setting} ${example}\``;
}

function parseBaseUrl(given: string): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const wrong = (what: string) =>
    new ConfigError("baseUrl", `the base URL ${what}`, howToSet("baseUrl", `https://${PUBLIC_SERVICE}`));
  // "localhost:8080" parses as a URL of the scheme "localhost:", so the slashes are looked for.
  if (!url || !/^[a-z][a-z0-9+.-]*:\/\//i.test(given)) throw wrong("has no scheme, or is no URL");
  if (url.protocol !== "https:" && url.protocol !== "http:") throw wrong("is neither https nor http");
  if (url.username || url.password) throw wrong("holds credentials, which belong into the API key");
  if (url.search || url.hash) throw wrong("has a query or a fragment");
  return url;
}

function seconds(name: string, given: string | undefined, standard: number): number {
  if (given === undefined) return standard;
  const value = Number(given);
  if (Number.isFinite(value) && value > 0) return value;
  throw new ConfigError(
    name,
    `${name} is not a number of seconds above zero`,
    howToSet(name, String(standard)),
  );
}

function requests(name: string, given: string | undefined, standard: number): number {
  if (given === undefined) return standard;
  if (/^[1-9]\d{0,8}$/.test(given)) return Number(given);
  throw new ConfigError(name, `${name} is not a whole number above zero`, howToSet(name, String(standard)));
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** `90s`, `30m`, `1h`, `2d`, in seconds. */
function duration(name: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)\s*([smhd])$/.exec(given) ?? [];
  const value = Number(number) * (UNITS[unit] ?? Number.NaN);
  if (value > 0) return value;
  throw new ConfigError(name, `${name} is no time such as 90s, 30m, 1h or 2d`, howToSet(name, "1h"));
}
