import { platformInfo, webhookPlatforms } from "../traffic-policy/webhooks/index";

/** How many signatures a free account verifies in a month (contract, limits). Paid plans have no such limit. */
export const FREE_VERIFICATIONS_PER_MONTH = 500;

/** The platforms' identifiers, each with the platform's name. */
export const platformNames = Object.entries(webhookPlatforms).map(([id, { name }]) => [id, name]);

/** How to get or rotate a platform's secret, in a sentence. It never names an unknown identifier, which may be a secret. */
export function secretSource(identifier: string): string {
  const platform = platformInfo(identifier);
  if (!platform)
    return "The catalogue does not have this platform. Its own documentation has the source of the secret.";
  const { name, where, page } = platform;
  switch (platform.origin) {
    case "chosen":
      return `Generate a long random secret and enter it at ${name} (${where}); to rotate it, change it there and here at the same time. See ${page}`;
    case "shown":
      return `Copy it from ${name} (${where}); to rotate it, create a new one there, then change it here. See ${page}`;
    case "shown once":
      return `${name} shows it only once, when you create it (${where}), so copy it then; to rotate it, create a new one, then change it here. See ${page}`;
    case "returned":
      return `Get it from ${name}'s API (${where}); after a rotation, get it again and change it here. See ${page}`;
    case "credential":
      return `It is a credential from ${name} (${where}); to rotate it, change it here and everywhere else you use it. See ${page}`;
    case "account":
      return `Copy the sending account from ${name} (${where}); ${name} signs with its own key, so there is nothing to rotate. See ${page}`;
    default:
      return `See ${name}'s own page for its secret: ${page}`;
  }
}
