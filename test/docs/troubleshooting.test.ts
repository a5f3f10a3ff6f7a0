import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allMessages, messagesIn, normal, partsOf } from "./messages";

const root = join(import.meta.dirname, "..", "..");
const page = normal(readFileSync(join(root, "docs", "troubleshooting.md"), "utf8"));
const messages = allMessages(root);

test("every message of the package is on the page about troubleshooting", () => {
  const missing = messages.filter(({ text }) => !partsOf(text).every((part) => page.includes(part)));
  expect(missing.map(({ place, text }) => `${place}: ${text}`)).toEqual([]);
});

test("every message on the page is one of the package", () => {
  const said = messages.map(({ text }) => normal(text)).join("\n");
  const [ours = ""] = readFileSync(join(root, "docs", "troubleshooting.md"), "utf8").split(
    "## What Pulumi itself says\n",
  );
  const quoted = [...ours.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text),
  );
  expect(quoted.length).toBeGreaterThan(150);
  expect(quoted.flatMap(partsOf).filter((part) => !said.includes(part))).toEqual([]);
});

test("a message is found in whatever form the source has it", () => {
  const found = (file: string, source: string) => messagesIn(file, source).map(({ text }) => text);
  expect(found("provider/new.ts", `const wrong = (id: string) => \`$\{id} has gone to the moon\`;`)).toEqual([
    "… has gone to the moon",
  ]);
  expect(found("sdk/new.ts", 'switch (form) { case "a form of many words": }')).toEqual([]);
  expect(found("sdk/new.ts", 'export const told = ["nobody told the page of this"];')).toHaveLength(1);
  expect(found("sdk/testing/new.ts", 'throw new Error("nobody told the page of this");')).toHaveLength(1);
  expect(found("sdk/commands/new.ts", 'throw new UsageError("nobody told the page of this");')).toHaveLength(
    1,
  );
  expect(found("sdk/testing/new.ts", 'log("all is as it should be");')).toEqual([]);
});
