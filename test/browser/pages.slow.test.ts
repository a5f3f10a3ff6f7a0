import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openChromium } from "../../docs/generate/chromium";
import { runDrift } from "../commands/drift/driftRun";
import { fixtures } from "../commands/drift/fixtures";

const folder = mkdtempSync(join(tmpdir(), "drift-page-"));
const chromium = await openChromium();
afterAll(async () => {
  await chromium?.close();
  rmSync(folder, { recursive: true });
});

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const picture = readFileSync(join(import.meta.dirname, "../../docs/pictures/demo.svg"), "utf8");
const pictureLines = z.array(z.object({ text: z.string(), drawn: z.number(), right: z.number() }));
const rules = z.array(z.object({ id: z.string() }));
const axeResults = z.object({ violations: rules, incomplete: rules, passes: rules });

const HOSTILE = "the texts of other people try to control what shows them";

async function newPage() {
  if (!chromium) throw new Error("there is no Chromium");
  return chromium.browser.newPage();
}

/** Opens the page of a fixture from a file, and records the loaded files. */
async function open(name: string, width: number, scheme = "light") {
  const fixture = fixtures[name]?.();
  if (!fixture) throw new Error(`there is no fixture ${name}`);
  const report = await runDrift(fixture.stacks, fixture);
  const page = await newPage();
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.setViewport({ width, height: 800 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  const file = join(folder, "drift.html");
  writeFileSync(file, report.page);
  await page.goto(`file://${file}`);
  return { page, requests };
}

describe.skipIf(!chromium)("the drift page in Chromium", () => {
  test("loads no other file, runs no script, and shows hostile text as text", async () => {
    const { page, requests } = await open(HOSTILE, 1280);
    expect(requests).toHaveLength(1);
    const ran = await page.evaluate(
      "typeof window.hacked + document.scripts.length + document.images.length",
    );
    expect(ran).toBe("undefined00");
    const text = String(await page.evaluate("document.body.innerText"));
    expect(text).toContain('<script>hacked = 1</script>"><img src=x');
    for (const unseen of ["\u202e", "\u200b", "\u001b"]) expect(text).not.toContain(unseen);
    await page.close();
  });

  test.each([
    ["every field has drifted", 1280, "light"],
    ["endpoints are unmanaged, of another stack and ignored", 320, "dark"],
    ["two stacks have a pending create in one pool", 1280, "dark"],
    [HOSTILE, 320, "dark"],
  ])(
    "of a fixture in which %s passes the accessibility checks of axe, and never scrolls sideways",
    async (name, width, scheme) => {
      const { page } = await open(name, width, scheme);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
      await page.evaluate(AXE);
      const { violations, incomplete, passes } = axeResults.parse(await page.evaluate("axe.run()"));
      expect([violations, incomplete]).toEqual([[], []]);
      // Proves that the rules ran.
      const ran = passes.map(({ id }) => id);
      expect(ran).toEqual(expect.arrayContaining(["color-contrast", "page-has-heading-one"]));
      await page.close();
    },
  );
});

test.skipIf(!chromium)(
  "the picture of the demo keeps all spaces in Chromium, and no line leaves it",
  async () => {
    const page = await newPage();
    // As a document of its own, which is how a page shows an image.
    await page.goto(`data:image/svg+xml;base64,${Buffer.from(picture).toString("base64")}`);
    const lines = pictureLines.parse(
      await page.evaluate(`[...document.querySelectorAll("text")].map((text) => ({
      text: text.textContent, drawn: text.getNumberOfChars(), right: text.getBoundingClientRect().right,
    }))`),
    );
    const width = Number(/viewBox="0 0 (\d+)/.exec(picture)?.[1]);
    expect(lines.some(({ text }) => /^ {4,}\S/.test(text))).toBe(true);
    for (const { text, drawn, right } of lines) {
      expect([text, drawn]).toEqual([text, text.length]);
      expect(right, text).toBeLessThan(width);
    }
  },
);
