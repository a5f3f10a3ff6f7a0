import { ApiError } from "../../provider/api/apiErrors";
import { CONNECTIONS, HttpClient } from "../../provider/api/client";
import type { LiveEndpoint } from "../../provider/api/contract";
import { EndpointsApi } from "../../provider/api/endpoints";
import { CLOUD } from "../../provider/api/filter";
import { urlOf } from "../../provider/api/url";
import { type ConfigReader, readSettings } from "../../provider/config";
import { wildcard } from "../../provider/lookup";
import { StackError } from "./pulumi";

/* What commands read of an account. */

/** The exit code of the Pulumi CLI if its backend requires a login. */
const CLI_AUTHENTICATION = 3;

/** Whether the service refused the key, or Pulumi's backend the login. */
export function isAuthenticationError(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 401 || error.status === 403;
  return error instanceof StackError && error.exitCode === CLI_AUTHENTICATION;
}

/** For settings that come from the environment alone. */
export const noConfig: ConfigReader = () => undefined;

/**
 * The account of a stack's configuration, or of the environment if the configuration names none.
 *
 * @param log Takes long waits.
 * @param warn Takes the items of the list that cannot be read and are left out.
 * @throws ConfigError if a setting is missing.
 */
export function openAccount(config: ConfigReader, log: (message: string) => void, warn = log): EndpointsApi {
  const http = new HttpClient(readSettings(config), {
    log: { info: log, warn },
    connections: CONNECTIONS.program,
  });
  return new EndpointsApi(http);
}

/** The cloud endpoints of an account, newest first: all that a program can manage. */
export const cloudEndpoints = ({ list }: EndpointsApi): Promise<LiveEndpoint[]> => list.select(CLOUD, true);

/** Matches endpoints whose URL fits any of the patterns (`https://*.example.com`). No pattern matches all. */
export function urlMatcher(patterns: readonly string[]): (endpoint: LiveEndpoint) => boolean {
  const wildcards = patterns.map(wildcard);
  return (endpoint) =>
    wildcards.length === 0 || wildcards.some((pattern) => pattern.test(urlOf(endpoint) ?? ""));
}
