import * as pulumi from "@pulumi/pulumi";
import { CONNECTIONS, HttpClient } from "../provider/api/client";
import { MOCKED_ACCOUNT, readSettings } from "../provider/api/config";
import type { EndpointsApi } from "../provider/api/endpoints";
import { endpointsApi } from "../provider/endpoint/fields";

/** One client for each configuration. A process has several only under the Automation API. */
const accounts = new Map<string, EndpointsApi>();

/**
 * The account of the program's configuration.
 *
 * @throws ConfigError if a setting is missing.
 */
export function thisAccount(): EndpointsApi {
  const mocked = mockedAccount();
  if (mocked) return mocked;
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
  const account = endpointsApi(http);
  accounts.set(key, account);
  return account;
}

/** The account of the test kit's mocks, if `pulumi.runtime.setMocks` has set them. */
function mockedAccount(): EndpointsApi | undefined {
  // Pulumi stores the mocks there, but does not declare them.
  const monitor: object = pulumi.runtime.getMonitor() ?? {};
  const { mocks } = monitor as { mocks?: { [MOCKED_ACCOUNT]?: EndpointsApi } };
  return mocks?.[MOCKED_ACCOUNT];
}

/** Marks all listings as outdated, because this program has just created an endpoint. */
export function outdateListings(): void {
  for (const account of accounts.values()) account.list.outdate();
}
