import { derivedFromUrl } from "../../../../provider/data/index";
import { fetchReply } from "../../answer/index";
import type { ReachableEndpoint } from "../../answer/routing";
import type { EndpointReply, FetchOptions } from "../../index";

/* Helpers that write policies for tests, and send requests to an endpoint with a policy. */

export const URL = "https://shop.example.com";

/** What answers at a URL: the policy of a cloud endpoint, or an agent's application, perhaps with a policy. */
type Answering = object | string | Required<Pick<ReachableEndpoint, "application">>;

/** Sends a request to these endpoints, by URL. */
export function fetchFrom(
  endpoints: Record<string, Answering>,
  url = URL,
  options: FetchOptions = {},
): Promise<EndpointReply> {
  const all = Object.entries(endpoints).map(([url, answering]): ReachableEndpoint => {
    const bindings = [url.endsWith(".internal") ? "internal" : "public"];
    const address = { url, ...derivedFromUrl(url), bindings };
    return typeof answering === "object" && "application" in answering
      ? { ...address, type: "ephemeral", ...answering }
      : { ...address, type: "cloud", traffic_policy: answering };
  });
  return fetchReply(() => all, url, options);
}

/** Sends a request to an endpoint with this policy. */
export const send = (policy: object, options: FetchOptions = {}, path = "/"): Promise<EndpointReply> =>
  fetchFrom({ [URL]: policy }, URL + path, options);

export type Action = { type: string; config?: unknown };
export const act = (type: string, config?: unknown): Action => ({ type, config });

export const ips = (config: object) => act("restrict-ips", { enforce: true, ...config });
export const password = (...credentials: string[]) => act("basic-auth", { credentials });
export const redirect = (to: string, more: object = {}) => act("redirect", { to, ...more });
export const rewrite = (from: string, to: string) => act("url-rewrite", { from, to });
export const vars = (...all: object[]) => act("set-vars", { vars: all });
export const limit = (more: object = {}) =>
  act("rate-limit", {
    name: "a",
    algorithm: "sliding_window",
    capacity: 1,
    rate: "60s",
    bucket_key: [],
    ...more,
  });
export const headers = (type: string, all: unknown) => act(type, { headers: all });
export const verify = (secret: string, more: object = {}) =>
  act("verify-webhook", { provider: "github", secret, ...more });

/** An action that answers with this text, whose expressions show what earlier actions did. */
export const shows = (body: string): Action =>
  act("custom-response", { body, headers: { "content-type": "text/plain" } });
export const HELLO = shows("hello");

/** A policy with these actions, followed by actions that answer. */
export const request = (...actions: Action[]) => ({ on_http_request: [{ actions: [...actions, HELLO] }] });
/** A policy that answers 403 if the expression is true, and otherwise 200. */
export const when = (expression: string) => ({
  on_http_request: [{ expressions: [expression], actions: [act("deny")] }, { actions: [HELLO] }],
});
/** A policy that forwards every request. */
export const forward = (url: string, more: object = {}) => ({
  on_http_request: [{ actions: [act("forward-internal", { url, ...more })] }],
});
