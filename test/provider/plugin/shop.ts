import { plugin } from "./pluginClient";

/* The endpoint that the cases are about. */

export const url = "https://shop.example.com";
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
export const rules = (status: unknown) => ({
  on_http_request: [{ actions: [{ type: "log" }, { type: "deny", config: { status_code: status } }] }],
});
export const full = {
  url,
  trafficPolicy: rules(404),
  description: "front door",
  metadata: { team: "shop", "cost.center": 1 },
  bindings: ["public"],
  poolingEnabled: false,
};

/** What the engine does for a new resource. */
export async function created(news: Record<string, unknown>) {
  const parts = await plugin();
  const { inputs } = await parts.client.check({}, news);
  return { ...parts, inputs, ...(await parts.client.create(inputs)) };
}
