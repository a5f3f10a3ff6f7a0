import * as pulumi from "@pulumi/pulumi";

/** The differences between the environments, from each `Pulumi.<stack>.yaml`. */
export interface Settings {
  environment: Environment;
  /** The parent domain of the environment's hosts. */
  domain: string;
  /** The maximum number of requests per minute from one address. */
  requestsPerMinute: number;
  /** The allowed networks in CIDR notation. If it is empty, all networks are allowed. */
  onlyFrom: string[];
  /** Whether visitors get a maintenance notice instead of the backend. */
  maintenance: boolean;
}

const environments = ["dev", "prod"] as const;
export type Environment = (typeof environments)[number];

/** The settings of the selected stack. Throws if a setting is missing. */
export function readSettings(): Settings {
  const config = new pulumi.Config();
  const stack = pulumi.getStack();
  const environment = environments.find((name) => name === stack);
  if (!environment) {
    throw new pulumi.RunError(
      `the stack ${stack} is not an environment: select ${environments.join(" or ")}`,
    );
  }
  return {
    environment,
    domain: config.require("domain"),
    requestsPerMinute: config.requireNumber("requestsPerMinute", { min: 1 }),
    onlyFrom: config.getObject<string[]>("onlyFrom") ?? [],
    maintenance: config.getBoolean("maintenance") ?? false,
  };
}
