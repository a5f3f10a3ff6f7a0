import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../package/pack";

/** The pages with code. */
export const pages = [
  "README.md",
  "sdk/traffic-policy/README.md",
  "sdk/traffic-policy/ACTIONS.md",
  ...readdirSync(join(root, "docs")).flatMap((file) => (file.endsWith(".md") ? [`docs/${file}`] : [])),
];

/** A block of code that a reader copies into a project. */
export interface Block {
  page: string;
  line: number;
  language: string;
  code: string;
}

/** The blocks of code in a page, also indented blocks in lists. */
export function blocksOf(page: string, text = readFileSync(join(root, page), "utf8")): Block[] {
  return [...text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^\1```$/gm)].map(
    ({ index, 1: indent = "", 2: language = "", 3: code = "" }) => ({
      page,
      line: text.slice(0, index).split("\n").length,
      language,
      code: code.replace(new RegExp(`^${indent}`, "gm"), ""),
    }),
  );
}
