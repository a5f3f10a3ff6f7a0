import { CloudEndpoint, getEndpoint, getEndpoints } from "pulumi-endpoints";

/** A table of what agents and edges serve on this account. */
export const table = getEndpoints({ types: ["ephemeral", "edge"] }).then(({ endpoints }) =>
  endpoints.map((endpoint) => ({
    id: endpoint.id,
    type: endpoint.type,
    url: endpoint.publicUrl,
    servedBy: endpoint.type === "ephemeral" ? endpoint.upstreamUrl : endpoint.edge?.id,
  })),
);

/** The internal endpoint that an agent opened, found by its URL. */
const backend = getEndpoint({ url: "https://shop.internal" });

/** The public front door before it. */
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
