/*
 * The webhook platforms whose signatures the service verifies, by its documentation of August 2026. The sources of secrets,
 * their forms and the challenges are from the same pages. A fact is left out if they contradict each other or the platform's
 * own page.
 */

/** A platform whose webhooks the service can verify. */
export interface WebhookPlatformInfo {
  /** The platform's name. */
  name: string;
  /**
   * The source of its secret. `chosen`: you choose it and enter it on both sides. `shown`: its console shows it. `shown
   * once`: the console shows it only at creation. `returned`: its API returns it. `credential`: an existing credential of
   * your app or account. `account`: no secret, but the sending account, because the platform signs with its own key.
   * Undefined if the sources disagree or name none.
   */
  origin?: "chosen" | "shown" | "shown once" | "returned" | "credential" | "account";
  /** The place or name of the secret there. Undefined if `origin` is. */
  where?: string;
  /** The form that the secret must have. Default: any text. */
  form?: "public key" | "base64 key" | "user and password" | "32 characters" | "12 digits";
  /**
   * Who answers the challenge that the platform sends to a new address: the service (`answered`), or your application
   * (`forwarded`). Undefined if no challenge is known.
   */
  challenge?: "answered" | "forwarded";
  /** The platform's page about webhook signatures, or the service's guide if no such page is known. */
  page: string;
}

type More = Pick<WebhookPlatformInfo, "form" | "challenge">;

const from =
  (origin: NonNullable<WebhookPlatformInfo["origin"]>) =>
  (name: string, where: string, page: string, more: More = {}): WebhookPlatformInfo => ({
    name,
    origin,
    where,
    page,
    ...more,
  });
const chosen = from("chosen");
const shown = from("shown");
const shownOnce = from("shown once");
const returned = from("returned");
const credential = from("credential");
const account = from("account");
const unclear = (name: string, page: string, more: More = {}): WebhookPlatformInfo => ({
  name,
  page,
  ...more,
});

/**
 * All platforms, by the identifier that the service takes.
 *
 * ```ts
 * webhookPlatforms.github.where; // "the webhook's Secret": what to enter where
 * ```
 */
// biome-ignore format: one platform per line, as a table
export const webhookPlatforms = {
  aftership: shown("AfterShip", "the webhook's secret", "https://www.aftership.com/docs/tracking/webhook/webhook-signature"),
  airship: chosen("Airship", "the Secret Key of the open channel, whose authentication is set to Signature", "https://support.airship.com/hc/en-us/articles/360032501831-Implementing-a-Signature-Hash-and-Validating-an-Open-Channel-Webhook"),
  alchemy: shown("Alchemy", "Signing Key, in the webhook's menu", "https://www.alchemy.com/docs/reference/notify-api-quickstart"),
  sns: account("Amazon SNS", "Topic owner, on the topic's page", "https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html", { form: "12 digits" }),
  autodesk: unclear("Autodesk Platform Services", "https://aps.autodesk.com/en/docs/webhooks/v1/tutorials/how-to-verify-payload-signature/"),
  bitbucket: chosen("Bitbucket", "the webhook's secret token", "https://confluence.atlassian.com/bitbucketserver/manage-webhooks-938025878.html#Managewebhooks-webhooksecrets"),
  bolt: unclear("Bolt", "https://help.bolt.com/developers/guides/webhooks/hook-verification/"),
  box: shown("Box", "the primary key, under Manage Signature Keys of the app's webhooks", "https://developer.box.com/guides/webhooks/v2/signatures-v2/"),
  brex: returned("Brex", "GET /v1/webhooks/secrets, the entry whose status is ACTIVE", "https://developer.brex.com/docs/webhooks/", { form: "base64 key" }),
  buildkite: shown("Buildkite", "Token of the notification service, which must send an HMAC signature", "https://buildkite.com/docs/apis/webhooks/pipelines"),
  calendly: chosen("Calendly", "signing_key of the webhook subscription", "https://developer.calendly.com/api-docs/4c305798a61d3-webhook-signatures"),
  castle: credential("Castle", "API Secret, under Configuration", "https://docs.castle.io/docs/webhooks"),
  chargify: credential("Chargify", "the site's Shared Key", "https://docs.maxio.com/hc/en-us/articles/24266136649869-Webhooks-Reference"),
  circleci: chosen("CircleCI", "the webhook's secret token", "https://circleci.com/docs/guides/integration/outbound-webhooks/#validate-webhooks"),
  clearbit: credential("Clearbit", "the Secret API Key", "https://ngrok.com/docs/integrations/webhooks/clearbit-webhooks"),
  clerk: shown("Clerk", "the endpoint's Signing Secret", "https://clerk.com/docs/reference/backend/verify-webhook", { form: "base64 key" }),
  coinbase: credential("Coinbase", "the API key's API Secret, shown only when it is made", "https://docs.cdp.coinbase.com/commerce/api-arcitecture/webhooks-security"),
  contentful: chosen("Contentful", "the webhook's signing secret", "https://www.contentful.com/developers/docs/webhooks/request-verification/"),
  docusign: shown("DocuSign", "Connect Keys, with HMAC signatures included", "https://developers.docusign.com/platform/webhooks/connect/validate/"),
  dropbox: credential("Dropbox", "the app's App secret", "https://www.dropbox.com/developers/reference/webhooks", { challenge: "forwarded" }),
  facebook_graph_api: credential("Facebook Graph API", "the app's App secret", "https://developers.facebook.com/docs/graph-api/webhooks/getting-started", { challenge: "forwarded" }),
  facebook_messenger: credential("Facebook Messenger", "the app's App secret", "https://developers.facebook.com/docs/messenger-platform/webhooks#validate-payloads", { challenge: "forwarded" }),
  frameio: shown("Frame.io", "the webhook's Secret", "https://next.developer.frame.io/platform/docs/guides/webhooks"),
  github: chosen("GitHub", "the webhook's Secret", "https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries"),
  gitlab: chosen("GitLab", "the webhook's secret token", "https://docs.gitlab.com/user/project/integrations/webhooks/"),
  go1: unclear("Go1", "https://developers.go1.com/docs/developer-tools/webhooks/security"),
  heroku: chosen("Heroku", "the webhook's secret", "https://devcenter.heroku.com/articles/app-webhooks#securing-webhook-requests"),
  hostedhooks: shown("Hosted Hooks", "the endpoint's Signing Secret", "https://docs.hostedhooks.com/security/security-features/webhook-signatures"),
  hubspot: credential("HubSpot", "the app's Client secret", "https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation"),
  graphcms: chosen("Hygraph", "the webhook's Secret key", "https://hygraph.com/docs/api-reference/basics/webhooks", { form: "32 characters" }),
  instagram: credential("Instagram", "the app's App secret", "https://developers.facebook.com/docs/instagram-platform/webhooks", { challenge: "forwarded" }),
  intercom: credential("Intercom", "the app's Client secret", "https://developers.intercom.com/docs/references/webhooks/webhook-models#signed-notifications"),
  jira: chosen("Jira", "the webhook's Secret", "https://developer.atlassian.com/cloud/jira/platform/webhooks/#secure-admin-webhooks"),
  launch_darkly: shown("Launch Darkly", "the secret of the webhook, which must be set to be signed", "https://launchdarkly.com/docs/home/infrastructure/webhooks"),
  linear: shown("Linear", "the webhook's Signing secret", "https://linear.app/developers/webhooks#securing-webhooks"),
  mailchimp: unclear("Mailchimp", "https://mailchimp.com/developer/transactional/guides/track-respond-activity-webhooks/#authenticating-webhook-requests"),
  mailgun: shown("Mailgun", "HTTP webhook signing key", "https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks"),
  microsoft_teams: shownOnce("Microsoft Teams", "the security token of the outgoing webhook", "https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/add-outgoing-webhook", { form: "base64 key" }),
  modern_treasury: shown("Modern Treasury", "Webhook Key", "https://docs.moderntreasury.com/platform/docs/verifying-webhooks"),
  mongodb: chosen("MongoDB", "Webhook Secret", "https://www.mongodb.com/docs/atlas/tutorial/webhook-integration/"),
  mux: shown("Mux", "Show Signing Secret, of the webhook", "https://www.mux.com/docs/core/verify-webhook-signatures"),
  orb: unclear("Orb", "https://docs.withorb.com/integrations-and-exports/webhooks"),
  orbit: chosen("Orbit", "Webhook Secret", "https://orbit.love/docs/all/webhooks"),
  pagerduty: shownOnce("PagerDuty", "the secret in the window that opens when the webhook is made", "https://developer.pagerduty.com/docs/webhooks/webhook-signatures/"),
  pinwheel: credential("Pinwheel", "the API Secret", "https://docs.pinwheelapi.com/docs/webhook-signature-verification"),
  plivo: credential("Plivo", "the account's Auth Token", "https://www.plivo.com/docs/messaging/concepts/signature-validation"),
  pusher: shown("Pusher", "the webhook's secret", "https://pusher.com/docs/channels/server_api/webhooks/#authentication"),
  sendgrid: shown("SendGrid", "Generate Verification Key, of the event webhook", "https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features", { form: "public key" }),
  sentry: credential("Sentry", "the internal integration's Client Secret", "https://docs.sentry.io/organization/integrations/integration-platform/webhooks/"),
  shopify: shown("Shopify", "the key after “All your webhooks will be signed with”", "https://shopify.dev/docs/apps/build/webhooks/verify-deliveries"),
  signal_sciences: shown("Signal Sciences", "the webhook's secret key", "https://www.fastly.com/documentation/guides/next-gen-waf/integrations/generic-webhooks/"),
  slack: shown("Slack", "the app's Signing Secret", "https://docs.slack.dev/authentication/verifying-requests-from-slack/", { challenge: "forwarded" }),
  sonatype: chosen("Sonatype Nexus", "the Secret Key of the webhook capability", "https://help.sonatype.com/en/working-with-hmac-payloads.html"),
  square: unclear("Square", "https://developer.squareup.com/docs/webhooks/step3validate"),
  stripe: shown("Stripe", "the endpoint's Signing secret", "https://docs.stripe.com/webhooks/signatures"),
  svix: shown("Svix", "the endpoint's Signing Secret", "https://docs.svix.com/receiving/verifying-payloads/how", { form: "base64 key" }),
  terraform: chosen("Terraform", "the notification's Token", "https://developer.hashicorp.com/terraform/cloud-docs/api-docs/notification-configurations#notification-authenticity", { challenge: "forwarded" }),
  tiktok: credential("TikTok", "the app's Client secret", "https://developers.tiktok.com/doc/webhooks-verification"),
  trendmicro_conformity: chosen("Trend Micro Conformity", "Webhook Security Token", "https://cloudone.trendmicro.com/docs/conformity/webhook-communication/"),
  twilio: credential("Twilio", "the account's primary Auth Token", "https://www.twilio.com/docs/usage/webhooks/webhooks-security"),
  twitter: unclear("Twitter", "https://docs.x.com/x-api/webhooks/quickstart", { challenge: "answered" }),
  typeform: chosen("Typeform", "the webhook's Secret", "https://www.typeform.com/developers/webhooks/secure-your-webhooks/"),
  vmware: chosen("VMware Workspace", "user name and password, here as username::password", "https://ngrok.com/docs/integrations/webhooks/vmware-webhooks", { form: "user and password" }),
  webex: chosen("Webex", "secret in the call POST /v1/webhooks", "https://developer.webex.com/messaging/docs/api/guides/webhooks"),
  whatsapp: credential("WhatsApp", "the app's App secret", "https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/create-webhook-endpoint", { challenge: "forwarded" }),
  worldline: shown("Worldline", "the Secret Webhook Key, once keys are generated", "https://docs.connect.worldline-solutions.com/documentation/webhooks/", { challenge: "answered" }),
  xero: shown("Xero", "Webhooks key", "https://developer.xero.com/documentation/guides/webhooks/configuring-your-server/", { challenge: "answered" }),
  zendesk: shown("Zendesk", "Reveal secret, of the webhook", "https://developer.zendesk.com/documentation/webhooks/verifying/"),
  zoom: shown("Zoom", "the app's Secret Token", "https://developers.zoom.us/docs/api/webhooks/#verify-webhook-events", { challenge: "answered" }),
} satisfies Record<string, WebhookPlatformInfo>;

/** Identifier of a platform in the catalogue. */
export type WebhookPlatform = keyof typeof webhookPlatforms;

/** The platform with this identifier; undefined if the catalogue does not have it. */
export function platformInfo(identifier: string): WebhookPlatformInfo | undefined {
  return Object.hasOwn(webhookPlatforms, identifier)
    ? webhookPlatforms[identifier as WebhookPlatform]
    : undefined;
}
