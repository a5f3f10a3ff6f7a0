import * as pulumi from "@pulumi/pulumi";
import { misspeltHeaders } from "../provider/policy/headerNames";
import { nearestPlatform, platformInfo } from "./webhookPlatforms";

/* What a verification tells without failing. */

/** What an identifier looks like. Anything else in its place is never shown. */
const SHOWABLE = /^[a-z0-9_ .-]{1,40}$/i;

/** Warns of a platform that the catalogue does not have, by its name where that cannot be a secret. */
export async function warnOfPlatform(
  name: string,
  platform: pulumi.Output<string>,
  secret: pulumi.Output<string | undefined>,
): Promise<void> {
  const known = await isKnown(secret);
  if (known === undefined) return;
  // Whether the two are swapped can be told once the secret is known, and then has been.
  const mayShow = known && !(await pulumi.isSecret(platform));
  platform.apply((platform) => {
    if (platformInfo(platform)) return;
    const shown = mayShow && SHOWABLE.test(platform);
    const near = shown && nearestPlatform(platform);
    const hint = near
      ? `did you mean ${near}?`
      : "if the service has learnt it since, all is well; otherwise it refuses the policy.";
    const what = shown ? `platform ${JSON.stringify(platform)}` : "its platform";
    void pulumi.log.warn(`${name}: ${what} is not in the catalogue; ${hint}`);
  });
}

/** Warns of headers that a policy, or a part of one, asks for by a name under which the service has none. */
export async function warnOfHeaders(name: string, policy: pulumi.Output<unknown>): Promise<void> {
  const known = await isKnown(policy);
  if (!known) return;
  const mayShow = !(await pulumi.isSecret(policy));
  policy.apply((policy) => {
    for (const { place, asked, name: header, right } of misspeltHeaders(policy)) {
      const what = mayShow ? header : "a name";
      const how = mayShow ? right : asked.endsWith("Header") ? "names as in X-Version-Id" : "lower case";
      void pulumi.log.warn(
        `${name}: ${place} asks ${asked} for ${what} where the service has ${how}; in another spelling it finds no header`,
      );
    }
  });
}

/** Says, in a preview, that a secret could not be looked at. */
export async function tellOfUnknown(name: string, secret: object): Promise<void> {
  if ((await isKnown(secret)) === false)
    void pulumi.log.info(`${name}: the secret is not known yet; \`pulumi up\` checks its form.`);
}

/** Whether an output's value is there. Undefined where it failed, which is told elsewhere. */
async function isKnown(output: object): Promise<boolean | undefined> {
  // Pulumi keeps it on the output, and does not declare so.
  const known: unknown = await Promise.resolve("isKnown" in output ? output.isKnown : true).catch(
    () => undefined,
  );
  return typeof known === "boolean" ? known : undefined;
}
