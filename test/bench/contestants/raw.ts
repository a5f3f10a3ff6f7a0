import { z } from "zod";
import { atOnce } from "../atOnce";
import type { Operation } from "../cells";
import { declaredEndpoints } from "./endpoints";

/*
 * The service's floor: the requests that the job takes and nothing else, as many at once as an engine sends. What comes
 * back is read to its end, and looked at only for the ids.
 */

const page = z.object({
  endpoints: z.array(z.object({ id: z.string(), url: z.string() })),
  next_page_uri: z.string().nullish(),
});
const created = z.object({ id: z.string() });

/** @param known Ids by URL: what `create` made, for the operations after it. */
export async function rawOperation(
  operation: Operation,
  size: number,
  known: Map<string, string>,
  { baseUrl, apiKey, parallel }: { baseUrl: string; apiKey: string; parallel: number },
): Promise<void> {
  if (operation === "preview") return;
  // Within the measured time, as the provider loads it.
  const { Pool } = await import("undici");
  const pool = new Pool(baseUrl, { connections: parallel });
  const call = async (method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: object) => {
    const headers = {
      authorization: `Bearer ${apiKey}`,
      "service-version": "2",
      ...(body && { "content-type": "application/json" }),
    };
    const response = await pool.request({
      method,
      path,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${text}`);
    return text;
  };

  const all = declaredEndpoints(size, operation === "update");
  const idOf = (url: string) => known.get(url) ?? "";
  switch (operation) {
    case "create":
      await atOnce(parallel, all, async ({ url, description, trafficPolicy }) => {
        const body = { type: "cloud", url, description, traffic_policy: JSON.stringify(trafficPolicy) };
        known.set(url, created.parse(JSON.parse(await call("POST", "/endpoints", body))).id);
      });
      break;
    case "refresh":
      for (let next: string | null | undefined = "/endpoints?limit=100"; next; ) {
        const { next_page_uri } = page.parse(JSON.parse(await call("GET", next)));
        const url: URL | null = next_page_uri ? new URL(next_page_uri, baseUrl) : null;
        next = url && url.pathname + url.search;
      }
      break;
    case "update": {
      const changed = all.filter(({ description }) => description === "changed");
      await atOnce(parallel, changed, async ({ url, description }) => {
        await call("PATCH", `/endpoints/${idOf(url)}`, { id: idOf(url), description });
      });
      break;
    }
    case "destroy":
      await atOnce(parallel, all, async ({ url }) => {
        await call("DELETE", `/endpoints/${idOf(url)}`);
      });
  }
  await pool.close();
}
