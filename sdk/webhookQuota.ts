import * as pulumi from "@pulumi/pulumi";
import { perRun } from "./run";
import { FREE_VERIFICATIONS_PER_MONTH } from "./webhookPlatforms";
import type { WebhookSettings } from "./webhookSettings";

interface Expected {
  name: string;
  deliveries: number;
  plan: WebhookSettings["plan"];
}

/** What the run's components expect, and the sum that the user has been told of. */
const thisRun = perRun(() => ({ expected: new Map<object, Expected>(), told: 0, due: false }));

/**
 * Counts what a component expects. The limit is the account's, so a warning names the sum of the stack's components;
 * it waits until those that are known at once have all been counted. Components are told apart as objects, since two of
 * one name can stand below different parents.
 */
export function expectDeliveries(component: object, expected: Expected): void {
  const run = thisRun();
  run.expected.set(component, expected);
  if (run.due) return;
  run.due = true;
  setImmediate(() => {
    run.due = false;
    const warning = warningOf([...run.expected.values()]);
    if (warning === undefined || warning.sum === run.told) return;
    run.told = warning.sum;
    void pulumi.log.warn(warning.text);
  });
}

/** The warning where a free account's month is too small; one component that names a paid plan speaks for all. */
export function warningOf(all: readonly Expected[]): { sum: number; text: string } | undefined {
  const sum = all.reduce((total, { deliveries }) => total + deliveries, 0);
  const paid = all.some(({ plan }) => plan === "pro" || plan === "enterprise");
  if (paid || sum <= FREE_VERIFICATIONS_PER_MONTH) return undefined;
  const parts = all.map(({ name, deliveries }) => `${name} ${deliveries}`).join(", ");
  return {
    sum,
    text: `${sum} webhook deliveries a month are expected (${parts}), and a free account verifies ${FREE_VERIFICATIONS_PER_MONTH} a month, all its endpoints together. Expect fewer, or move the account to a paid plan and set plan: "pro".`,
  };
}
