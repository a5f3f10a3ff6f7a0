import * as pulumi from "@pulumi/pulumi";
import { declaredEndpoints } from "./endpoints";

/*
 * A dynamic provider as most people write it: a subclass of `pulumi.dynamic.Resource` with a serialized provider, one
 * `fetch` for each operation, and a comparison for the diff. It does not limit or repeat requests, or check its inputs.
 */

interface Inputs {
  url: string;
  description: string;
  traffic_policy: string;
}

async function call(method: string, path: string, body?: object) {
  const response = await fetch(`${process.env["ENDPOINTS_BASE_URL"]}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${process.env["ENDPOINTS_API_KEY"]}`,
      "content-type": "application/json",
      "service-version": "2",
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (response.status === 404) return undefined;
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === "" ? {} : JSON.parse(text);
}

const provider: pulumi.dynamic.ResourceProvider = {
  async create({ url, description, traffic_policy }: Inputs) {
    const endpoint = await call("POST", "/endpoints", { type: "cloud", url, description, traffic_policy });
    return { id: endpoint.id, outs: endpoint };
  },

  async read(id: string, outs: object) {
    const endpoint = await call("GET", `/endpoints/${id}`);
    return endpoint ? { id, props: { ...outs, ...endpoint } } : {};
  },

  async diff(_id: string, olds: Inputs, news: Inputs) {
    return {
      changes:
        olds.url !== news.url ||
        olds.description !== news.description ||
        olds.traffic_policy !== news.traffic_policy,
    };
  },

  async update(id: string, _olds: Inputs, { url, description, traffic_policy }: Inputs) {
    return { outs: await call("PATCH", `/endpoints/${id}`, { id, url, description, traffic_policy }) };
  },

  async delete(id: string) {
    await call("DELETE", `/endpoints/${id}`);
  },
};

class PlainEndpoint extends pulumi.dynamic.Resource {
  declare readonly public_url: pulumi.Output<string>;

  constructor(name: string, args: Inputs, options?: pulumi.CustomResourceOptions) {
    super(provider, name, { ...args, public_url: undefined }, options);
  }
}

export function declare(size: number, changed: boolean): void {
  for (const { name, url, description, trafficPolicy } of declaredEndpoints(size, changed))
    new PlainEndpoint(name, { url, description, traffic_policy: JSON.stringify(trafficPolicy) });
}
