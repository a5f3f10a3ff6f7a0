/* Webhook platforms and their secrets, for this repository. */

export { platformInfo, type WebhookPlatformInfo, webhookPlatforms } from "./platforms";
export { secretProblem, vaultReference } from "./secretForms";
