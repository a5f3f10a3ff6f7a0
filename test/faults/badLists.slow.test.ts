import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { wholeList } from "../provider/service";
import { good, hostileValue, itemText } from "./hostile";
import { settled } from "./invariants";
import { rawService } from "./rawService";

const runs = { numRuns: 300 };

describe("a list", () => {
  test("returns all valid items in order, despite invalid ones between them", async () => {
    const parts = await rawService();
    const items = fc.array(fc.tuple(fc.boolean(), itemText), { minLength: 1, maxLength: 12 });
    const property = fc.asyncProperty(items, async (list) => {
      const texts = list.map(([ok, text], i) => (ok ? JSON.stringify({ ...good, id: `ep_good${i}` }) : text));
      parts.answers({ body: `{"endpoints":[${texts.join()}]}` });
      let found: Awaited<ReturnType<typeof wholeList>> = { endpoints: [], skipped: [] };
      await settled(parts, async () => {
        found = await wholeList(parts.api);
      });
      // Several invalid items may have the same id. The last one counts.
      const { endpoints, skipped } = found;
      const others = list.filter(([ok]) => !ok).length;
      expect(endpoints.length + skipped.length).toBeLessThanOrEqual(list.length);
      expect(skipped.length).toBeLessThanOrEqual(others);
      const ids = endpoints.map(({ id }) => id).filter((id) => id.startsWith("ep_good"));
      expect(ids).toEqual(list.flatMap(([ok], i) => (ok ? [`ep_good${i}`] : [])));
    });
    await fc.assert(property, runs);
  });

  test("is read only from the configured service, for any next_page_uri", async () => {
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
      await settled(parts, () => wholeList(parts.api));
      expect(other.received).toEqual([]);
      for (const { path } of parts.received) expect(path).toMatch(/^\/endpoints(\?|$)/);
    });
    await fc.assert(property, runs);
  });

  test("without an end fails", async () => {
    const parts = await rawService();
    parts.answers(() => ({
      body: JSON.stringify({ endpoints: [], next_page_uri: `?a=${parts.received.length}` }),
    }));
    expect(await settled(parts, () => wholeList(parts.api))).toMatchObject({ error: { name: "ReplyError" } });
  });
});
