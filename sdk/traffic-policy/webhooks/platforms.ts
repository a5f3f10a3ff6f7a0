/*
 * The webhook platforms whose signatures the service verifies, by its documentation of August 2026. The origins and forms of
 * secrets, and the challenges, are from the same pages. A fact is left out if these pages contradict each other or the
 * platform's own page.
 */

/** A platform whose webhooks the service can verify. */
export interface WebhookPlatformInfo {
  name: string;
  /**
   * Where the secret comes from. `chosen`: you choose it and enter it on both sides. `shown`: the platform's console shows it.
   * `shown once`: the console shows it only at creation. `returned`: the platform's API returns it. `credential`: an existing
   * credential of your app or account. `account`: no secret, but the sending account, because the platform signs with its own
   * key. Undefined if the documentation is silent or contradicts itself.
   */
  origin?: "chosen" | "shown" | "shown once" | "returned" | "credential" | "account";
  /** The secret's place or name on the platform. Undefined if `origin` is undefined. */
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

/** Keeps the published declarations short: only the identifiers are in the type. */
const byIdentifier = <Id extends string>(platforms: Record<Id, WebhookPlatformInfo>) => platforms;

/**
 * All platforms, by the identifier that the service takes.
 *
 * ```ts
 * webhookPlatforms.github.where; // "the webhook's Secret": what to enter where
 * ```
 */
// biome-ignore format: one platform per line, as a table
export const webhookPlatforms = byIdentifier({
  aftership: { name: "AfterShip", origin: "shown", where: "the webhook's secret", page: "https://www.aftership.com/docs/tracking/webhook/webhook-signature" },
  airship: { name: "Airship", origin: "chosen", where: "the Secret Key of the open channel, whose authentication is set to Signature", page: "https://support.airship.com/hc/en-us/articles/360032501831-Implementing-a-Signature-Hash-and-Validating-an-Open-Channel-Webhook" },
  alchemy: { name: "Alchemy", origin: "shown", where: "Signing Key, in the webhook's menu", page: "https://www.alchemy.com/docs/reference/notify-api-quickstart" },
  sns: { name: "Amazon SNS", origin: "account", where: "Topic owner, on the topic's page", form: "12 digits", page: "https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html" },
  autodesk: { name: "Autodesk Platform Services", page: "https://aps.autodesk.com/en/docs/webhooks/v1/tutorials/how-to-verify-payload-signature/" },
  bitbucket: { name: "Bitbucket", origin: "chosen", where: "the webhook's secret token", page: "https://confluence.atlassian.com/bitbucketserver/manage-webhooks-938025878.html#Managewebhooks-webhooksecrets" },
  bolt: { name: "Bolt", page: "https://help.bolt.com/developers/guides/webhooks/hook-verification/" },
  box: { name: "Box", origin: "shown", where: "the primary key, under Manage Signature Keys of the app's webhooks", page: "https://developer.box.com/guides/webhooks/v2/signatures-v2/" },
  brex: { name: "Brex", origin: "returned", where: "GET /v1/webhooks/secrets, the entry whose status is ACTIVE", form: "base64 key", page: "https://developer.brex.com/docs/webhooks/" },
  buildkite: { name: "Buildkite", origin: "shown", where: "Token of the notification service, which must send an HMAC signature", page: "https://buildkite.com/docs/apis/webhooks/pipelines" },
  calendly: { name: "Calendly", origin: "chosen", where: "signing_key of the webhook subscription", page: "https://developer.calendly.com/api-docs/4c305798a61d3-webhook-signatures" },
  castle: { name: "Castle", origin: "credential", where: "API Secret, under Configuration", page: "https://docs.castle.io/docs/webhooks" },
  chargify: { name: "Chargify", origin: "credential", where: "the site's Shared Key", page: "https://docs.maxio.com/hc/en-us/articles/24266136649869-Webhooks-Reference" },
  circleci: { name: "CircleCI", origin: "chosen", where: "the webhook's secret token", page: "https://circleci.com/docs/guides/integration/outbound-webhooks/#validate-webhooks" },
  clearbit: { name: "Clearbit", origin: "credential", where: "the Secret API Key", page: "https://ngrok.com/docs/integrations/webhooks/clearbit-webhooks" },
  clerk: { name: "Clerk", origin: "shown", where: "the endpoint's Signing Secret", form: "base64 key", page: "https://clerk.com/docs/reference/backend/verify-webhook" },
  coinbase: { name: "Coinbase", origin: "credential", where: "the API key's API Secret, shown only when it is made", page: "https://docs.cdp.coinbase.com/commerce/api-arcitecture/webhooks-security" },
  contentful: { name: "Contentful", origin: "chosen", where: "the webhook's signing secret", page: "https://www.contentful.com/developers/docs/webhooks/request-verification/" },
  docusign: { name: "DocuSign", origin: "shown", where: "Connect Keys, with HMAC signatures included", page: "https://developers.docusign.com/platform/webhooks/connect/validate/" },
  dropbox: { name: "Dropbox", origin: "credential", where: "the app's App secret", challenge: "forwarded", page: "https://www.dropbox.com/developers/reference/webhooks" },
  facebook_graph_api: { name: "Facebook Graph API", origin: "credential", where: "the app's App secret", challenge: "forwarded", page: "https://developers.facebook.com/docs/graph-api/webhooks/getting-started" },
  facebook_messenger: { name: "Facebook Messenger", origin: "credential", where: "the app's App secret", challenge: "forwarded", page: "https://developers.facebook.com/docs/messenger-platform/webhooks#validate-payloads" },
  frameio: { name: "Frame.io", origin: "shown", where: "the webhook's Secret", page: "https://next.developer.frame.io/platform/docs/guides/webhooks" },
  github: { name: "GitHub", origin: "chosen", where: "the webhook's Secret", page: "https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries" },
  gitlab: { name: "GitLab", origin: "chosen", where: "the webhook's secret token", page: "https://docs.gitlab.com/user/project/integrations/webhooks/" },
  go1: { name: "Go1", page: "https://developers.go1.com/docs/developer-tools/webhooks/security" },
  heroku: { name: "Heroku", origin: "chosen", where: "the webhook's secret", page: "https://devcenter.heroku.com/articles/app-webhooks#securing-webhook-requests" },
  hostedhooks: { name: "Hosted Hooks", origin: "shown", where: "the endpoint's Signing Secret", page: "https://docs.hostedhooks.com/security/security-features/webhook-signatures" },
  hubspot: { name: "HubSpot", origin: "credential", where: "the app's Client secret", page: "https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation" },
  graphcms: { name: "Hygraph", origin: "chosen", where: "the webhook's Secret key", form: "32 characters", page: "https://hygraph.com/docs/api-reference/basics/webhooks" },
  instagram: { name: "Instagram", origin: "credential", where: "the app's App secret", challenge: "forwarded", page: "https://developers.facebook.com/docs/instagram-platform/webhooks" },
  intercom: { name: "Intercom", origin: "credential", where: "the app's Client secret", page: "https://developers.intercom.com/docs/references/webhooks/webhook-models#signed-notifications" },
  jira: { name: "Jira", origin: "chosen", where: "the webhook's Secret", page: "https://developer.atlassian.com/cloud/jira/platform/webhooks/#secure-admin-webhooks" },
  launch_darkly: { name: "Launch Darkly", origin: "shown", where: "the secret of the webhook, which must be set to be signed", page: "https://launchdarkly.com/docs/home/infrastructure/webhooks" },
  linear: { name: "Linear", origin: "shown", where: "the webhook's Signing secret", page: "https://linear.app/developers/webhooks#securing-webhooks" },
  mailchimp: { name: "Mailchimp", page: "https://mailchimp.com/developer/transactional/guides/track-respond-activity-webhooks/#authenticating-webhook-requests" },
  mailgun: { name: "Mailgun", origin: "shown", where: "HTTP webhook signing key", page: "https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks" },
  microsoft_teams: { name: "Microsoft Teams", origin: "shown once", where: "the security token of the outgoing webhook", form: "base64 key", page: "https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/add-outgoing-webhook" },
  modern_treasury: { name: "Modern Treasury", origin: "shown", where: "Webhook Key", page: "https://docs.moderntreasury.com/platform/docs/verifying-webhooks" },
  mongodb: { name: "MongoDB", origin: "chosen", where: "Webhook Secret", page: "https://www.mongodb.com/docs/atlas/tutorial/webhook-integration/" },
  mux: { name: "Mux", origin: "shown", where: "Show Signing Secret, of the webhook", page: "https://www.mux.com/docs/core/verify-webhook-signatures" },
  orb: { name: "Orb", page: "https://docs.withorb.com/integrations-and-exports/webhooks" },
  orbit: { name: "Orbit", origin: "chosen", where: "Webhook Secret", page: "https://orbit.love/docs/all/webhooks" },
  pagerduty: { name: "PagerDuty", origin: "shown once", where: "the secret in the window that opens when the webhook is made", page: "https://developer.pagerduty.com/docs/webhooks/webhook-signatures/" },
  pinwheel: { name: "Pinwheel", origin: "credential", where: "the API Secret", page: "https://docs.pinwheelapi.com/docs/webhook-signature-verification" },
  plivo: { name: "Plivo", origin: "credential", where: "the account's Auth Token", page: "https://www.plivo.com/docs/messaging/concepts/signature-validation" },
  pusher: { name: "Pusher", origin: "shown", where: "the webhook's secret", page: "https://pusher.com/docs/channels/server_api/webhooks/#authentication" },
  sendgrid: { name: "SendGrid", origin: "shown", where: "Generate Verification Key, of the event webhook", form: "public key", page: "https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features" },
  sentry: { name: "Sentry", origin: "credential", where: "the internal integration's Client Secret", page: "https://docs.sentry.io/organization/integrations/integration-platform/webhooks/" },
  shopify: { name: "Shopify", origin: "shown", where: "the key after “All your webhooks will be signed with”", page: "https://shopify.dev/docs/apps/build/webhooks/verify-deliveries" },
  signal_sciences: { name: "Signal Sciences", origin: "shown", where: "the webhook's secret key", page: "https://www.fastly.com/documentation/guides/next-gen-waf/integrations/generic-webhooks/" },
  slack: { name: "Slack", origin: "shown", where: "the app's Signing Secret", challenge: "forwarded", page: "https://docs.slack.dev/authentication/verifying-requests-from-slack/" },
  sonatype: { name: "Sonatype Nexus", origin: "chosen", where: "the Secret Key of the webhook capability", page: "https://help.sonatype.com/en/working-with-hmac-payloads.html" },
  square: { name: "Square", page: "https://developer.squareup.com/docs/webhooks/step3validate" },
  stripe: { name: "Stripe", origin: "shown", where: "the endpoint's Signing secret", page: "https://docs.stripe.com/webhooks/signatures" },
  svix: { name: "Svix", origin: "shown", where: "the endpoint's Signing Secret", form: "base64 key", page: "https://docs.svix.com/receiving/verifying-payloads/how" },
  terraform: { name: "Terraform", origin: "chosen", where: "the notification's Token", challenge: "forwarded", page: "https://developer.hashicorp.com/terraform/cloud-docs/api-docs/notification-configurations#notification-authenticity" },
  tiktok: { name: "TikTok", origin: "credential", where: "the app's Client secret", page: "https://developers.tiktok.com/doc/webhooks-verification" },
  trendmicro_conformity: { name: "Trend Micro Conformity", origin: "chosen", where: "Webhook Security Token", page: "https://cloudone.trendmicro.com/docs/conformity/webhook-communication/" },
  twilio: { name: "Twilio", origin: "credential", where: "the account's primary Auth Token", page: "https://www.twilio.com/docs/usage/webhooks/webhooks-security" },
  twitter: { name: "Twitter", challenge: "answered", page: "https://docs.x.com/x-api/webhooks/quickstart" },
  typeform: { name: "Typeform", origin: "chosen", where: "the webhook's Secret", page: "https://www.typeform.com/developers/webhooks/secure-your-webhooks/" },
  vmware: { name: "VMware Workspace", origin: "chosen", where: "user name and password, here as username::password", form: "user and password", page: "https://ngrok.com/docs/integrations/webhooks/vmware-webhooks" },
  webex: { name: "Webex", origin: "chosen", where: "secret in the call POST /v1/webhooks", page: "https://developer.webex.com/messaging/docs/api/guides/webhooks" },
  whatsapp: { name: "WhatsApp", origin: "credential", where: "the app's App secret", challenge: "forwarded", page: "https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/create-webhook-endpoint" },
  worldline: { name: "Worldline", origin: "shown", where: "the Secret Webhook Key, once keys are generated", challenge: "answered", page: "https://docs.connect.worldline-solutions.com/documentation/webhooks/" },
  xero: { name: "Xero", origin: "shown", where: "Webhooks key", challenge: "answered", page: "https://developer.xero.com/documentation/guides/webhooks/configuring-your-server/" },
  zendesk: { name: "Zendesk", origin: "shown", where: "Reveal secret, of the webhook", page: "https://developer.zendesk.com/documentation/webhooks/verifying/" },
  zoom: { name: "Zoom", origin: "shown", where: "the app's Secret Token", challenge: "answered", page: "https://developers.zoom.us/docs/api/webhooks/#verify-webhook-events" },
});

/** The identifier of a platform in `webhookPlatforms`. */
export type WebhookPlatform = keyof typeof webhookPlatforms;

/** The platform with this identifier; undefined for an unknown identifier. */
export function platformInfo(identifier: string): WebhookPlatformInfo | undefined {
  return Object.hasOwn(webhookPlatforms, identifier)
    ? webhookPlatforms[identifier as WebhookPlatform]
    : undefined;
}
