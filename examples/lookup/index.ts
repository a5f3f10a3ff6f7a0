import { CloudEndpoint, getEndpoint, getEndpoints } from "pulumi-endpoints";

/** The endpoints of agents and edges in this account. */
export const table = getEndpoints({ types: ["ephemeral", "edge"] }).then(({ endpoints }) =>
  endpoints.map((endpoint) => ({
    id: endpoint.id,
    type: endpoint.type,
    url: endpoint.publicUrl,
    servedBy: endpoint.type === "ephemeral" ? endpoint.upstreamUrl : endpoint.edge?.id,
  })),
);

/** An agent's internal endpoint, by its URL. */
const backend = getEndpoint({ url: "https://shop.internal" });

/** The public endpoint in front of it. */
const shop = new CloudEndpoint("shop", {
  url: "https://shop.example.com",
  description: backend.then(({ id }) => `in front of ${id}`),
  trafficPolicy: {
    on_http_request: [
      {
        actions: [{ type: "forward-internal", config: { url: backend.then(({ publicUrl }) => publicUrl) } }],
      },
    ],
  },
});

export const url = shop.publicUrl;
