import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { openChromium } from "../../docs/generate/chromium";

const picture = readFileSync(join(import.meta.dirname, "../../docs/pictures/demo.svg"), "utf8");

const linesSchema = z.array(z.object({ text: z.string(), drawn: z.number(), right: z.number() }));

test("the picture of the demo keeps all spaces in the browser, and no line leaves it", async (context) => {
  const chromium = await openChromium();
  if (!chromium) return context.skip("there is no Chromium");
  onTestFinished(() => chromium.close());
  const page = await chromium.browser.newPage();
  // As a document of its own, which is how a page shows an image.
  await page.goto(`data:image/svg+xml;base64,${Buffer.from(picture).toString("base64")}`);
  const lines = linesSchema.parse(
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
});
