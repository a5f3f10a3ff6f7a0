import { ApiError } from "../../provider/api/apiErrors";
import { EndpointsApi } from "../../provider/api/endpoints";
import { CONNECTIONS, HttpClient } from "../../provider/api/http";
import type { LiveEndpoint } from "../../provider/api/items";
import { type ConfigReader, readSettings } from "../../provider/config";
import { Listing } from "../../provider/listing";
import { urlOf, wildcard } from "../../provider/lookup";
import { StackError } from "./stacks";

/* What commands read of an account. */

/** What every command's exit code means. */
export const EXIT = { done: 0, failed: 1, usage: 2, authentication: 3 } as const;

/** The exit code of a command that failed with this. */
export function exitCodeOf(error: unknown): number {
  return isRefusal(error) ? EXIT.authentication : EXIT.failed;
}

/** The Pulumi CLI's own number where its backend does not let it in. */
const CLI_AUTHENTICATION = 3;

/** Whether the service or Pulumi's backend refused the key. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 401 || error.status === 403;
  return error instanceof StackError && error.exitCode === CLI_AUTHENTICATION;
}

/** Only the environment tells where the account is. */
export const noConfig: ConfigReader = () => undefined;

/**
 * The account that a stack's configuration names and, where that is silent, the environment.
 *
 * @param tell Takes what a person should know: a long wait, an item of the list that cannot be read and is left out.
 * @throws ConfigError where a setting is missing.
 */
export function openAccount(config: ConfigReader, tell: (message: string) => void): Listing {
  const http = new HttpClient(readSettings(config), {
    log: { info: tell, warn: tell },
    connections: CONNECTIONS.program,
  });
  return new Listing(new EndpointsApi(http), tell);
}

/** The cloud endpoints of an account, newest first, and how many it has of other types, which no program can manage. */
export async function cloudEndpoints(account: Listing): Promise<{ cloud: LiveEndpoint[]; others: number }> {
  const all = await account.all(true);
  const cloud = all.filter(({ type }) => type === "cloud");
  return { cloud, others: all.length - cloud.length };
}

/** Whether a URL is one of those that any of the patterns means (`https://*.example.com`). No pattern means all. */
export function selection(patterns: readonly string[]): (endpoint: LiveEndpoint) => boolean {
  const wanted = patterns.map(wildcard);
  return (endpoint) => wanted.length === 0 || wanted.some((pattern) => pattern.test(urlOf(endpoint) ?? ""));
}
