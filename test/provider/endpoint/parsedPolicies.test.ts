import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { wireText } from "../../../provider/endpoint/documents";
import { inputFields } from "../../../provider/endpoint/fields";

/*
 * Texts of policies, each with the text that is sent and stored. Every state has parsed data, so another result of the parser
 * would show a change where there is none. Add lines, but never change a line: such a change needs a major release.
 */

const lines = readFileSync(join(import.meta.dirname, "parsedPolicies.jsonl"), "utf8")
  .trim()
  .split("\n");

test.each(lines.map((line): [text: string, json: string] => JSON.parse(line)))(
  "%j is stored as always",
  (text, json) => expect(wireText(inputFields.trafficPolicy.parse(text))).toBe(json),
);
