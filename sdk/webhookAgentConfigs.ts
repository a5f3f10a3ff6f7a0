import * as pulumi from "@pulumi/pulumi";
import { parse } from "yaml";
import { z } from "zod";
import { configText } from "./agentForms";
import { programError } from "./programError";

/*
 * Agents that are given several files overwrite lists with the last one, and the endpoints of version 3 are a list. So
 * what one agent is to run has to be in one file.
 */

const config = z.discriminatedUnion("version", [
  z.strictObject({
    version: z.literal(3),
    agent: z.strictObject({}),
    endpoints: z.array(z.looseObject({ name: z.string() })),
  }),
  z.strictObject({ version: z.literal(2), tunnels: z.record(z.string(), z.looseObject({})) }),
]);

type Config = z.output<typeof config>;

/**
 * One configuration file for an agent that runs the endpoints of several verifications.
 *
 * ```ts
 * export const agentConfig = mergeAgentConfigs(github.agentConfig, brex.agentConfig);
 * ```
 *
 * @param configs The outputs `agentConfig` of the verifications, all of the same `agentConfigVersion`.
 * @returns The file's text, always secret. Like its parts it is without the agent's own token.
 * @throws RunError, through the output, where a verification has no `agent`, versions differ, or two names are equal.
 */
export function mergeAgentConfigs(...configs: pulumi.Input<string | undefined>[]): pulumi.Output<string> {
  return pulumi.secret(pulumi.all(configs).apply((texts) => mergedConfig(texts)));
}

/** The file that holds what all of these hold. Throws what is wrong with them, all of it. */
export function mergedConfig(texts: readonly unknown[]): string {
  if (texts.length === 0) throw programError("mergeAgentConfigs: there is no configuration to merge");
  const read = texts.map((text, index) => readConfig(text, index + 1));
  const merged = read.filter((each) => typeof each !== "string");
  const problems = [...read.filter((each) => typeof each === "string"), ...problemsOfAll(merged)];
  if (problems.length > 0) {
    throw programError(problems.map((problem) => `mergeAgentConfigs: ${problem}`).join("\n"));
  }
  const endpoints = merged.flatMap((each) => (each.version === 3 ? each.endpoints : []));
  const tunnels = merged.flatMap((each) => (each.version === 2 ? Object.entries(each.tunnels) : []));
  return configText(
    merged[0]?.version === 2
      ? { version: 2, tunnels: Object.fromEntries(tunnels) }
      : { version: 3, agent: {}, endpoints },
  );
}

/** A configuration, or what is wrong with it, in words that hold nothing of it. */
function readConfig(text: unknown, place: number): Config | string {
  if (text === undefined) {
    return `configuration ${place} is missing; give its verification an agent, as in agent: { upstream: 8080 }`;
  }
  const parsed = config.safeParse(typeof text === "string" ? dataOf(text) : undefined);
  return parsed.success
    ? parsed.data
    : `configuration ${place} is not the agentConfig of a webhook verification`;
}

/** Undefined for text that is no YAML. */
function dataOf(yaml: string): unknown {
  try {
    return parse(yaml, { logLevel: "error" });
  } catch {
    return undefined;
  }
}

function problemsOfAll(configs: readonly Config[]): string[] {
  const names = configs.flatMap(namesIn);
  const twice = [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
  return [
    ...(new Set(configs.map(({ version }) => version)).size > 1
      ? ["the configurations are of versions 2 and 3; give all verifications the same agentConfigVersion"]
      : []),
    ...twice.map((name) => `two endpoints have the name ${name}; give each verification its own agent.name`),
  ];
}

const namesIn = (each: Config) =>
  each.version === 2 ? Object.keys(each.tunnels) : each.endpoints.map(({ name }) => name);
