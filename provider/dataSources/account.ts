import { endpointParsers } from "../endpoint/fields";
import type { KeySource } from "../service/apiErrors";
import { HttpClient, type Log, MAX_CONNECTIONS } from "../service/client";
import type { Endpoint } from "../service/contract";
import { EndpointsApi } from "../service/endpoints";
import { CLOUD_ENDPOINTS } from "../service/list";
import { type ConfigReader, readSettings } from "../service/settings";

/**
 * An account as a program or a command reads it. What the configuration does not name comes from the environment.
 *
 * @param log Receives what the client says: about a long wait, or listed items that cannot be read.
 * @throws ConfigError if a setting is missing.
 */
export function openAccount(config: ConfigReader, log: Log, keySource?: KeySource): EndpointsApi {
  const settings = { ...readSettings(config), ...(keySource && { keySource }) };
  return new EndpointsApi(
    new HttpClient(settings, { log, maxConnections: MAX_CONNECTIONS.program }),
    endpointParsers,
  );
}

/** The cloud endpoints of an account, newest first. A program can manage only these. */
export const cloudEndpoints = ({ list }: EndpointsApi): Promise<Endpoint[]> =>
  list.select(CLOUD_ENDPOINTS, "fresh");
