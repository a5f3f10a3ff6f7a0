import type { WebhookPlatform } from "../traffic-policy/index";

/*
 * What a program writes for a webhook verification. The comment on a field is its documentation: editors show it, and the
 * reference is generated from it. Published declarations rest on these types, so nothing here may import a library.
 */

/** The plans of an account: those of the public service, and the paid ones that the contract names. */
export const AccountPlan = {
  Free: "free",
  Hobbyist: "hobbyist",
  PayAsYouGo: "pay-as-you-go",
  Pro: "pro",
  Enterprise: "enterprise",
} as const;
export type AccountPlan = (typeof AccountPlan)[keyof typeof AccountPlan];
export const plans = Object.values(AccountPlan);

/** The versions of an agent's configuration file. */
export const AgentConfigVersion = { V2: 2, V3: 3 } as const;
export type AgentConfigVersion = (typeof AgentConfigVersion)[keyof typeof AgentConfigVersion];
export const agentConfigVersions = Object.values(AgentConfigVersion);

/** An agent of the service, which opens an endpoint, verifies its requests and forwards them to an application. */
export interface WebhookAgent {
  /** The name of the agent's endpoint in its configuration. Default: the name of the webhook verification. */
  name?: string | undefined;

  /** The URL that the agent opens, `https` or `http`. Default: a random one, or the account's own. */
  url?: string | undefined;

  /** The application's address: a port of the agent's machine, `8080`, or a URL without a path, `http://localhost:8080`. */
  upstream: number | string;
}

/** The inputs of a webhook verification, once they are known. */
export interface WebhookInputs {
  /**
   * The identifier of the platform that sends the webhooks, such as `github`. An unknown platform causes a warning and is passed on,
   * because the service may support new platforms.
   */
  platform: WebhookPlatform | (string & {});

  /**
   * The platform's secret, or a reference to the service's vault: `${secrets.get('vault', 'name')}`. The output
   * `secretSource` names where to get it. For `sns` it is the owner of the topic, 12 digits. It is always a secret in the
   * state. Every platform needs it.
   */
  secret: string;

  /**
   * Whether to refuse unverified requests with status 403. With `false`, later actions of the policy run and see the
   * result in `actions.ngrok.verify_webhook.verified`. Default: `true`.
   */
  enforce?: boolean | undefined;

  /**
   * CEL expressions that select the requests to verify; all must be true: `req.url.path.startsWith('/brex')`. All other
   * requests continue unverified, so let another rule refuse them. Header names are in lower case:
   * `req.headers['x-github-event']`. Default: every request is verified.
   */
  expressions?: string[] | undefined;

  /** The agent for the output `agentConfig`. Default: none, if you use only the policy. */
  agent?: WebhookAgent | undefined;

  /** The version of the agent's configuration file, `2` or `3`. Default: `3`, which agents support from version 3.16 on. */
  agentConfigVersion?: AgentConfigVersion | undefined;

  /**
   * The expected verifications per month: the number of deliveries, or double that number if both a cloud endpoint and
   * its agent verify them. A free account is documented to verify 500 a month; a warning says if all webhook verifications of the stack
   * exceed that. Default: not counted.
   */
  expectedDeliveriesPerMonth?: number | undefined;

  /**
   * The account's plan. Only `free` is documented to limit verifications. The public service has `free`, `hobbyist` and `pay-as-you-go`;
   * `pro` and `enterprise` are the older paid plans. Default: `free`.
   */
  plan?: AccountPlan | undefined;
}

/** The inputs in their checked form. The secret may be missing, because another check reports that. */
export type WebhookSettings = Omit<WebhookInputs, "secret"> & { secret?: string | undefined };
