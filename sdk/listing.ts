import * as pulumi from "@pulumi/pulumi";
import { CONNECTIONS, HttpClient } from "../provider/api/client";
import { EndpointsApi } from "../provider/api/endpoints";
import { readSettings } from "../provider/config";

/** One client a configuration; several configurations meet in a process only under the Automation API. */
const accounts = new Map<string, EndpointsApi>();

/** The account that the running program's configuration names. Throws ConfigError where a setting is missing. */
export function thisAccount(): EndpointsApi {
  const settings = readSettings((key) => pulumi.runtime.getConfig(key));
  const key = JSON.stringify(settings);
  const known = accounts.get(key);
  if (known) return known;
  const http = new HttpClient(settings, {
    log: {
      info: (message) => void pulumi.log.info(message),
      warn: (message) => void pulumi.log.warn(message),
    },
    connections: CONNECTIONS.program,
  });
  const account = new EndpointsApi(http);
  accounts.set(key, account);
  return account;
}

/** Tells every listing under way that this program has just created an endpoint. */
export function outdateListings(): void {
  for (const account of accounts.values()) account.list.outdate();
}
