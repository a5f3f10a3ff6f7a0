import type { WebhookPlatform as Platform } from "../traffic-policy/index";
import { webhookPlatforms } from "../traffic-policy/webhooks/index";

/** Identifier of a platform in the catalogue. */
export type WebhookPlatform = Platform;

type Name<Identifier extends string> = Identifier extends `${infer First}_${infer Rest}`
  ? `${Capitalize<First>}${Name<Rest>}`
  : Capitalize<Identifier>;

const nameOf = (identifier: string) =>
  identifier.replace(/(?:^|_)(.)/g, (_, first: string) => first.toUpperCase());

/** The platforms' identifiers by the names that they have in other languages, as `pulumi convert` writes them: `WebhookPlatform.Github`. */
export const WebhookPlatform = Object.fromEntries(
  Object.keys(webhookPlatforms).map((identifier) => [nameOf(identifier), identifier]),
) as { readonly [Identifier in Platform as Name<Identifier>]: Identifier };
