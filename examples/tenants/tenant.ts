import { CloudEndpoint, rules } from "pulumi-endpoints";

/** A customer of the platform. */
export interface Tenant {
  /** Also the name of the tenant's stack. */
  name: string;
  /** The tenant's public hosts. */
  hosts: string[];
}

/** The program of every tenant: a public front door for each host, to what an agent serves at `https://<tenant>.internal`. */
export const programOf =
  ({ name, hosts }: Tenant) =>
  async () => {
    const doors = hosts.map(
      (host) =>
        new CloudEndpoint(host, {
          url: `https://${host}`,
          metadata: { tenant: name },
          trafficPolicy: { on_http_request: [rules.forwardTo(`https://${name}.internal`)] },
        }),
    );
    return { urls: doors.map(({ publicUrl }) => publicUrl) };
  };
