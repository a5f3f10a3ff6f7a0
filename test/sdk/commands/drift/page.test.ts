import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { reportPage } from "../../../../sdk/commands/drift/page";
import type { DriftReport } from "../../../../sdk/commands/drift/report";
import { openChromium } from "./browser";
import { bigReport, fullReport, HOSTILE, hostileReport, report } from "./reports";

/* The page as a real browser shows it, and as those hear it who do not see it. */

const folder = mkdtempSync(join(tmpdir(), "drift-page-"));
const chromium = await openChromium();
afterAll(async () => {
  await chromium?.close();
  rmSync(folder, { recursive: true });
});

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const clean = report({
  outcome: "none",
  exitCode: 0,
  stacks: [{ name: "prod", endpoints: 48, compared: 48, drifted: [], unseen: [] }],
});

describe.skipIf(!chromium)("the page in Chromium (skipped where there is none)", () => {
  /** The page from a file, as somebody opens it who was sent it. */
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

  test("needs no other file, runs nothing that stands in it, and shows every hostile text as text", async () => {
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

  test("never scrolls sideways, on the narrowest phone nor with the longest words", async () => {
    for (const of of [fullReport(), hostileReport(), clean]) {
      for (const width of [320, 375, 1280]) {
        const { page } = await open(of, width);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
        await page.close();
      }
    }
  });

  test("has nothing that axe finds, in light and dark, wide and narrow", async () => {
    for (const [of, width, scheme] of [
      [fullReport(), 1280, "light"],
      [fullReport(), 1280, "dark"],
      [fullReport(), 320, "light"],
      [fullReport(), 320, "dark"],
      [clean, 375, "light"],
      [clean, 375, "dark"],
    ] as const) {
      const { page } = await open(of, width, scheme);
      await page.evaluate(AXE);
      const { violations, incomplete, passes } = axeResults.parse(await page.evaluate("axe.run()"));
      expect([violations, incomplete]).toEqual([[], []]);
      // That it looked at all.
      expect(passes.map(({ id }) => id)).toEqual(
        expect.arrayContaining(["color-contrast", "page-has-heading-one"]),
      );
      await page.close();
    }
  });

  test("is heard as headings in order and tables with their rows and headers, on a phone too", async () => {
    for (const width of [320, 1280]) {
      const { page } = await open(fullReport(), width);
      const nodes = flat(await page.accessibility.snapshot({ interestingOnly: false }));
      const headings = nodes
        .filter(({ role }) => role === "heading")
        .map(({ level, name }) => `${level} ${name}`);
      expect(headings).toEqual([
        "1 Drift of cloud endpoints",
        "2 Overview",
        "2 Stack prod",
        "3 Could not be seen",
        "3 api: deleted, repaired",
        "3 shop: changed, not repaired",
        "2 Stack dev",
        "2 Account of prod, dev at https://api.ngrok.com",
      ]);
      for (const role of ["banner", "main", "contentinfo"])
        expect(nodes.filter((node) => node.role === role)).toHaveLength(1);
      const table = nodes.find(({ role, name }) => role === "table" && name === "What differs in shop");
      const cells = flat(table ?? null);
      const named = (role: string) => cells.filter((cell) => cell.role === role).map(({ name }) => name);
      expect(named("columnheader")).toEqual(["Field", "Should be", "Is"]);
      // Where a path may go on in the next line, there is a pause.
      expect(named("rowheader").map((name) => name?.replaceAll(" ", ""))).toContain(
        "trafficPolicy.on_http_request[0].actions[1].config.status_code",
      );
      expect(cells.filter(({ role }) => role === "cell" || role === "gridcell")).toHaveLength(10);
      await page.close();
    }
  });

  test("says all of it in words, in a sensible order, with styles switched off", async () => {
    const { page } = await open(fullReport(), 1280);
    expect(await page.title()).toBe(
      "Incomplete: 2 of 51 cloud endpoints drifted (1 changed, 1 deleted), 1 repaired, 1 not repaired, 2 unmanaged, 1 thing could not be seen (prod, dev)",
    );
    await page.evaluate("document.querySelector('style').remove()");
    const text = String(await page.evaluate("document.body.innerText")).replace(/\s+/g, " ");
    const order = [
      "Incomplete. 2 of 51",
      "Stack prod 2 of 48 cloud endpoints drifted.",
      "status (ep_status): cannot read ep_status",
      "api: deleted, repaired",
      "shop: changed, not repaired",
      'Field Should be Is description "front door" "edited by hand" metadata.team "shop" nothing',
      "[secret] [secret]",
      "Stack dev No drift was found in 3 cloud endpoints.",
      "https://old.example.com",
    ].map((part) => text.indexOf(part));
    expect(order).not.toContain(-1);
    expect(order).toEqual([...order].sort((a, b) => a - b));
    await page.close();
  });

  test("says in its title alone how the run ended", () => {
    const titleOf = (of: DriftReport) => /<title>(.*)<\/title>/.exec(reportPage(of))?.[1];
    expect(titleOf(clean)).toBe("No drift in 48 cloud endpoints (prod)");
    expect(titleOf(report())).toBe("Drift: 1 of 48 cloud endpoints drifted (1 changed) (prod)");
  });

  test("of a thousand drifted endpoints is shown whole", async () => {
    const { page } = await open(bigReport(), 375);
    expect(await page.evaluate("document.querySelectorAll('article').length")).toBe(1000);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(375);
    await page.close();
  });
});

const rules = z.array(z.object({ id: z.string() }));
const axeResults = z.object({ violations: rules, incomplete: rules, passes: rules });

type Node = NonNullable<Awaited<ReturnType<Page["accessibility"]["snapshot"]>>>;

function flat(node: Node | null): Node[] {
  return node ? [node, ...(node.children ?? []).flatMap(flat)] : [];
}
