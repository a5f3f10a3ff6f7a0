/** An endpoint that every contestant declares. */
export interface Declared {
  name: string;
  url: string;
  description: string;
  trafficPolicy: object;
}

/** The size of the policy as JSON. */
const POLICY_BYTES = 1024;

/** An update changes one endpoint in ten. */
const EVERY = 10;

/** @param changed Whether one endpoint in ten has another description. */
export function declaredEndpoints(size: number, changed: boolean): Declared[] {
  return Array.from({ length: size }, (_, index) => ({
    name: `e${index}`,
    url: `https://e${index}.example.com`,
    description: changed && index % EVERY === 0 ? "changed" : "created",
    trafficPolicy: policyOf(index),
  }));
}

export const changedCount = (size: number) => Math.ceil(size / EVERY);

/** A realistic policy of exactly POLICY_BYTES, different for each endpoint. */
function policyOf(index: number): object {
  const policy = (body: string) => ({
    on_http_request: [
      {
        name: `answer ${index}`,
        expressions: ["req.url.path.startsWith('/api/')", "!('x-internal' in req.headers)"],
        actions: [
          { type: "add-headers", config: { headers: { "x-served-by": `e${index}` } } },
          { type: "custom-response", config: { status_code: 200, headers: { vary: "accept" }, body } },
        ],
      },
    ],
  });
  const missing = POLICY_BYTES - JSON.stringify(policy("")).length;
  return policy("hello ".repeat(POLICY_BYTES).slice(0, missing));
}
