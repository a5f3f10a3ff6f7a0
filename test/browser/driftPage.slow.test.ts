import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openChromium } from "../../docs/generate/chromium";
import type { DriftReport } from "../../sdk/commands/drift/report";
import { reportPage } from "../../sdk/commands/drift/reportPage";
import { cleanReport, fullReport, HOSTILE, hostileReport, manyStacks } from "../commands/drift/reports";

const folder = mkdtempSync(join(tmpdir(), "drift-page-"));
const chromium = await openChromium();
afterAll(async () => {
  await chromium?.close();
  rmSync(folder, { recursive: true });
});

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

describe.skipIf(!chromium)("the drift page in Chromium", () => {
  /** Opens the page from a file. */
  async function open(
    of: DriftReport,
    width: number,
    scheme = "light",
  ): Promise<{ page: Page; requests: string[] }> {
    if (!chromium) throw new Error("there is no Chromium");
    const page = await chromium.browser.newPage();
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    await page.setViewport({ width, height: 800 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    const file = join(folder, "drift.html");
    writeFileSync(file, reportPage(of));
    await page.goto(`file://${file}`);
    return { page, requests };
  }

  test("loads no other file, runs no script, and shows hostile text as text", async () => {
    const { page, requests } = await open(hostileReport(), 1280);
    expect(requests).toHaveLength(1);
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(await page.evaluate("document.scripts.length + document.images.length")).toBe(0);
    const text = String(await page.evaluate("document.body.innerText"));
    for (const hostile of HOSTILE.slice(0, 3)) expect(text).toContain(hostile);
    expect(text).toContain("abc\\u{202e}txt.exe\\u{2066}\\u{200b}");
    for (const unseen of ["\u202e", "\u2066", "\u200b", "\u001b"]) expect(text).not.toContain(unseen);
    await page.close();
  });

  test("never scrolls horizontally, even on a narrow phone and with long words", async () => {
    for (const of of [fullReport(), hostileReport(), cleanReport()]) {
      for (const width of [320, 375, 1280]) {
        const { page } = await open(of, width);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
        await page.close();
      }
    }
  });

  test("passes the accessibility checks of axe, in light and dark mode and at every width", async () => {
    for (const [of, width, scheme] of [
      [fullReport(), 1280, "light"],
      [fullReport(), 1280, "dark"],
      [fullReport(), 320, "light"],
      [fullReport(), 320, "dark"],
      [cleanReport(), 375, "light"],
      [cleanReport(), 375, "dark"],
    ] as const) {
      const { page } = await open(of, width, scheme);
      await page.evaluate(AXE);
      const { violations, incomplete, passes } = axeResults.parse(await page.evaluate("axe.run()"));
      expect([violations, incomplete]).toEqual([[], []]);
      // Proves that the rules ran.
      expect(passes.map(({ id }) => id)).toEqual(
        expect.arrayContaining(["color-contrast", "page-has-heading-one"]),
      );
      await page.close();
    }
  });

  test("of 200 stacks begins with those that drifted, and folds the others, which the keyboard opens", async () => {
    for (const width of [320, 1280]) {
      const { page } = await open(manyStacks(), width);
      const height = () => page.evaluate("document.documentElement.scrollHeight").then(Number);
      const folded = await height();
      expect(folded).toBeLessThan(width === 320 ? 12_000 : 10_000);
      expect(await page.evaluate("document.querySelectorAll('main > section').length")).toBe(22);
      for (const key of Array(20).fill("Tab")) await page.keyboard.press(key);
      await page.keyboard.press("Enter");
      expect(await page.evaluate("location.hash")).toBe("#section-19");
      await page.evaluate("location.hash = ''; document.activeElement.blur(); window.scrollTo(0, 0)");
      await page.evaluate("document.querySelectorAll('summary')[0].focus()");
      await page.keyboard.press("Enter");
      expect(await page.evaluate("document.querySelectorAll('details')[0].open")).toBe(true);
      expect(await height()).toBeGreaterThan(folded + 180 * 20);
      await page.evaluate(AXE);
      const { violations, incomplete } = axeResults.parse(await page.evaluate("axe.run()"));
      expect([violations, incomplete]).toEqual([[], []]);
      await page.close();
    }
  });

  test("has ordered headings and tables with headers for a screen reader, on a phone too", async () => {
    for (const width of [320, 1280]) {
      const { page } = await open(fullReport(), width);
      const nodes = flat(await page.accessibility.snapshot({ interestingOnly: false }));
      const headings = nodes
        .filter(({ role }) => role === "heading")
        .map(({ level, name }) => `${level} ${name}`);
      expect(headings).toEqual([
        "1 Drift of cloud endpoints",
        "2 Stack prod",
        "3 undeployed",
        "3 deleted api",
        "3 changed shop",
        "3 changed long",
        "2 Stack dev",
        "2 Unchecked",
        "3 unchecked prod: a, prod: b, prod: c and 2 more",
        "3 unchecked account of prod at https://api.ngrok.com: the account",
        "2 Endpoints of more than one resource",
        "3 shared",
        "2 Account of 2 stacks (prod, …) at https://api.ngrok.com",
        "3 unmanaged https://old.example.com",
        "3 unmanaged tcp://1.tcp.example.com:12345",
        "3 unmanaged without a URL",
      ]);
      for (const role of ["banner", "main", "contentinfo"])
        expect(nodes.filter((node) => node.role === role)).toHaveLength(1);
      const table = nodes.find(({ role, name }) => role === "table" && name === "What differs in shop");
      const cells = flat(table ?? null);
      const named = (role: string) => cells.filter((cell) => cell.role === role).map(({ name }) => name);
      expect(named("columnheader")).toEqual(["Field", "Should be", "Is"]);
      // The accessibility tree has a space at each possible line break in a path.
      expect(named("rowheader").map((name) => name?.replaceAll(" ", ""))).toContain(
        "trafficPolicy.on_http_request[0].actions[1].config.status_code",
      );
      expect(cells.filter(({ role }) => role === "cell" || role === "gridcell")).toHaveLength(10);
      await page.close();
    }
  });
});

const rules = z.array(z.object({ id: z.string() }));
const axeResults = z.object({ violations: rules, incomplete: rules, passes: rules });

type Node = NonNullable<Awaited<ReturnType<Page["accessibility"]["snapshot"]>>>;

function flat(node: Node | null): Node[] {
  return node ? [node, ...(node.children ?? []).flatMap(flat)] : [];
}
