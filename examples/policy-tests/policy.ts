import type { TrafficPolicy } from "pulumi-endpoints";

/** An entry of the service's vault. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: the service replaces the expression
const githubSecret = "${secrets.get('hooks', 'github')}";

/** What reaches the shop behind the gateway. Rules run in this order. */
export const policy = {
  on_http_request: [
    {
      name: "the health check needs no shop",
      expressions: ["req.url.path == '/healthz'"],
      actions: [
        { type: "custom-response", config: { body: "ok", headers: { "content-type": "text/plain" } } },
      ],
    },
    {
      name: "only the office reaches /admin",
      expressions: ["req.url.path.startsWith('/admin')"],
      actions: [{ type: "restrict-ips", config: { enforce: true, allow: ["203.0.113.0/24"] } }],
    },
    {
      name: "downloads are for the EU",
      expressions: ["req.url.path.startsWith('/downloads/')", "!conn.client_ip.geo.location.is_eu"],
      actions: [{ type: "deny", config: { status_code: 451 } }],
    },
    {
      name: "version 1 has moved",
      expressions: ["req.url.path.startsWith('/v1/')"],
      actions: [{ type: "redirect", config: { from: "/v1/", to: "/v2/", status_code: 308 } }],
    },
    {
      name: "webhooks are signed",
      expressions: ["req.url.path == '/hooks/github'"],
      actions: [
        {
          type: "verify-webhook",
          config: { provider: "github", secret: githubSecret },
        },
      ],
    },
    {
      name: "the rest is for the shop",
      actions: [
        { type: "remove-headers", config: { headers: ["x-user"] } },
        { type: "forward-internal", config: { url: "https://shop.internal" } },
      ],
    },
  ],
} satisfies TrafficPolicy;
