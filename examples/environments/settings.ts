import * as pulumi from "@pulumi/pulumi";

/** What differs between the environments. Each `Pulumi.<stack>.yaml` gives it, and the program asks for nothing else. */
export interface Settings {
  environment: Environment;
  /** The domain below which the environment's hosts are. */
  domain: string;
  /** How many requests a minute one address may send. */
  requestsPerMinute: number;
  /** The networks that may come in, in CIDR notation; all if there are none. */
  onlyFrom: string[];
  /** Whether visitors get a notice instead of the backend. */
  maintenance: boolean;
}

const environments = ["dev", "prod"] as const;
export type Environment = (typeof environments)[number];

/** The settings of the selected stack. A stack that is no environment, or lacks a setting, ends the program here. */
export function readSettings(): Settings {
  const config = new pulumi.Config();
  const stack = pulumi.getStack();
  const environment = environments.find((name) => name === stack);
  if (!environment) {
    throw new pulumi.RunError(`the stack ${stack} is no environment: select ${environments.join(" or ")}`);
  }
  return {
    environment,
    domain: config.require("domain"),
    requestsPerMinute: config.requireNumber("requestsPerMinute", { min: 1 }),
    onlyFrom: config.getObject<string[]>("onlyFrom") ?? [],
    maintenance: config.getBoolean("maintenance") ?? false,
  };
}
