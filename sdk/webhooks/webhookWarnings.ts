import * as pulumi from "@pulumi/pulumi";
import { isKnown, perRun } from "../programRun";
import { FREE_VERIFICATIONS_PER_MONTH, nearestPlatform, platformInfo } from "./platforms";
import type { WebhookSettings } from "./webhookArgs";

/* The warnings of a verification. */

/** An identifier's form. A text of another form could be a secret in the wrong place, and is not shown. */
const SHOWABLE = /^[a-z0-9_ .-]{1,40}$/i;

/** Warns of a platform that the catalogue lacks. Shows its name only if the name cannot be a secret. */
export async function warnOfPlatform(
  name: string,
  platform: pulumi.Output<string>,
  secret: pulumi.Output<string | undefined>,
): Promise<void> {
  const known = await isKnown(secret);
  if (known === undefined) return;
  // Platform and secret could be swapped. Once the secret is known, that has been checked.
  const mayShow = known && !(await pulumi.isSecret(platform));
  platform.apply((platform) => {
    if (platformInfo(platform)) return;
    const shown = mayShow && SHOWABLE.test(platform);
    const near = shown && nearestPlatform(platform);
    const hint = near
      ? `did you mean ${near}?`
      : "ignore this if the service now supports it; otherwise the service refuses the policy.";
    const what = shown ? `platform ${JSON.stringify(platform)}` : "its platform";
    void pulumi.log.warn(`${name}: ${what} is not in the catalogue; ${hint}`);
  });
}

/** Reports, in a preview, that a secret could not be checked. */
export async function reportUnknownSecret(name: string, secret: object): Promise<void> {
  if ((await isKnown(secret)) === false)
    void pulumi.log.info(`${name}: the secret is not known yet; \`pulumi up\` checks its form.`);
}

interface Expected {
  name: string;
  deliveries: number;
  plan: WebhookSettings["plan"];
}

/** The expected deliveries of the run's components, and the sum in the last warning. */
const thisRun = perRun(() => ({ expected: new Map<object, Expected>(), reported: 0, due: false }));

/**
 * Counts the expected deliveries of a component. The limit is the account's, so the warning names the sum of the stack's
 * components. It waits until all numbers that are already known have been counted. Components are distinguished as objects,
 * because two with the same name can have different parents.
 */
export function expectDeliveries(component: object, expected: Expected): void {
  const run = thisRun();
  run.expected.set(component, expected);
  if (run.due) return;
  run.due = true;
  setImmediate(() => {
    run.due = false;
    const warning = quotaWarning([...run.expected.values()]);
    if (warning === undefined || warning.sum === run.reported) return;
    run.reported = warning.sum;
    void pulumi.log.warn(warning.text);
  });
}

/** The warning if a free account verifies fewer deliveries. A paid plan of one component counts for the account. */
export function quotaWarning(all: readonly Expected[]): { sum: number; text: string } | undefined {
  const sum = all.reduce((total, { deliveries }) => total + deliveries, 0);
  const paid = all.some(({ plan = "free" }) => plan !== "free");
  if (paid || sum <= FREE_VERIFICATIONS_PER_MONTH) return undefined;
  const parts = all.map(({ name, deliveries }) => `${name} ${deliveries}`).join(", ");
  return {
    sum,
    text: `${sum} webhook deliveries a month are expected (${parts}), and a free account verifies ${FREE_VERIFICATIONS_PER_MONTH} a month, all its endpoints together. Expect fewer, or move the account to a paid plan and set plan: "pay-as-you-go".`,
  };
}
