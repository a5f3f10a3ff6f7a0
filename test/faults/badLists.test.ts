import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LiveEndpoint, SkippedItem } from "../../provider/api/items";
import { good, hostileValue, itemText } from "./hostile";
import { settled } from "./invariants";
import { type RawService, rawService } from "./rawService";

const runs = { numRuns: 300 };

async function listed({ api }: RawService) {
  const items: (LiveEndpoint | SkippedItem)[] = [];
  for await (const { endpoints, skipped } of api.pages()) items.push(...endpoints, ...skipped);
  return items;
}

describe("a list", () => {
  test("gives all its good items in order, whatever stands between them", async () => {
    const parts = await rawService();
    const items = fc.array(fc.tuple(fc.boolean(), itemText), { minLength: 1, maxLength: 12 });
    const property = fc.asyncProperty(items, async (list) => {
      const texts = list.map(([ok, text], i) => (ok ? JSON.stringify({ ...good, id: `ep_good${i}` }) : text));
      parts.answers({ body: `{"endpoints":[${texts.join()}]}` });
      const found: (LiveEndpoint | SkippedItem)[] = [];
      await settled(parts, async () => found.push(...(await listed(parts))));
      expect(found).toHaveLength(list.length);
      const ids = found.map((item) => item.id).filter((found) => found?.startsWith("ep_good"));
      expect(ids).toEqual(list.flatMap(([ok], i) => (ok ? [`ep_good${i}`] : [])));
    });
    await fc.assert(property, runs);
  });

  test("is followed to the configured service only, whatever its next_page_uri is", async () => {
    const parts = await rawService();
    const other = await rawService();
    const next = fc.oneof(
      hostileValue,
      fc.webUrl({ withQueryParameters: true, withFragments: true }),
      fc.webQueryParameters().map((query) => `?${query}`),
      fc.constantFrom(
        "javascript:alert(1)",
        "data:text/plain,x",
        "file:///etc/passwd",
        `blob:${parts.baseUrl}/x`,
        `${other.baseUrl}/endpoints?before_id=ep_1`,
        `//${new URL(other.baseUrl).host}/endpoints`,
        `\\\\${new URL(other.baseUrl).host}\\endpoints`,
        `${parts.baseUrl}@${new URL(other.baseUrl).host}/`,
        `${parts.baseUrl.replace("//", "//user:password@")}/endpoints?a=b`,
        `${parts.baseUrl}/endpoints?limit=1&limit=2&__proto__=x&constructor=y`,
        `?${"x".repeat(100_000)}`,
        "/../../etc",
      ),
    );
    const property = fc.asyncProperty(next, async (next_page_uri) => {
      parts.answers({ body: JSON.stringify({ endpoints: [good], next_page_uri }) });
      await settled(parts, () => listed(parts));
      expect(other.asked).toEqual([]);
      for (const { path } of parts.asked) expect(path).toMatch(/^\/endpoints(\?|$)/);
    });
    await fc.assert(property, runs);
  });

  test("without an end is given up", async () => {
    const parts = await rawService();
    parts.answers(() => ({
      body: JSON.stringify({ endpoints: [], next_page_uri: `?a=${parts.asked.length}` }),
    }));
    expect(await settled(parts, () => listed(parts))).toMatchObject({ error: { name: "ReplyError" } });
  });
});
