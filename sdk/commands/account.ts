import { CONNECTIONS, HttpClient } from "../../provider/api/client";
import { type ConfigReader, readSettings } from "../../provider/api/config";
import type { LiveEndpoint } from "../../provider/api/contract";
import type { EndpointsApi } from "../../provider/api/endpoints";
import { CLOUD } from "../../provider/api/filter";
import { endpointsApi } from "../../provider/endpoint/fields";
import type { Log } from "./command";

/**
 * The account of a stack's configuration, or of the environment if the configuration names none.
 *
 * @param log Receives a message about a long wait.
 * @param warn Receives a message about each listed item that cannot be read and is left out.
 * @throws ConfigError if a setting is missing.
 */
export function openAccount(config: ConfigReader, log: Log, warn = log): EndpointsApi {
  const options = { log: { info: log, warn }, connections: CONNECTIONS.program };
  return endpointsApi(new HttpClient(readSettings(config), options));
}

/** The cloud endpoints of an account, newest first. A program can manage only these. */
export const cloudEndpoints = ({ list }: EndpointsApi): Promise<LiveEndpoint[]> =>
  list.select(CLOUD, { fresh: true });
