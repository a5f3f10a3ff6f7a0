import * as pulumi from "@pulumi/pulumi";
import { isKnown, perRun } from "../programRun";
import { FREE_VERIFICATIONS_PER_MONTH, nearestPlatform, platformInfo } from "./platforms";
import type { WebhookSettings } from "./webhookArgs";

/* What a verification reports without failing. */

/** An identifier's form. A text of another form could be a secret in the wrong place, and is not shown. */
const SHOWABLE = /^[a-z0-9_ .-]{1,40}$/i;

/** Warns of a platform that the catalogue lacks. Shows its name only if that cannot be a secret. */
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
      : "if the service supports it by now, ignore this; otherwise the service refuses the policy.";
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

/** What the components of the run expect, and the sum of the last warning. */
const thisRun = perRun(() => ({ expected: new Map<object, Expected>(), reported: 0, due: false }));

/**
 * Counts what a component expects. The limit is the account's, so a warning names the sum of the stack's components. It
 * waits until all that are known at once have been counted. Components are distinguished as objects, since two of one name
 * can have different parents.
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

/** The warning if a free account verifies fewer a month. If one component names a paid plan, the account has it. */
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
