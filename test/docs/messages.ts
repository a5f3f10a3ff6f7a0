import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as ts from "typescript";

/** A text that the package can show, with … where a value stands. */
export interface Message {
  /** `provider/url.ts:52` */
  place: string;
  text: string;
}

/** Files with texts that are no messages: a catalogue, and what makes the package schema. */
const SILENT = ["sdk/webhookPlatforms.ts", "provider/plugin/schema/"];

/**
 * Where people are spoken to otherwise too (progress, help), or where the words are those of the service and of Pulumi,
 * which the kit imitates: there only what is thrown counts.
 */
const TALKATIVE = ["sdk/commands/", "sdk/testing/"];

/** Every message of the source: errors, warnings and notes. */
export function allMessages(root: string): Message[] {
  return ["provider", "sdk"]
    .flatMap((part) =>
      readdirSync(join(root, part), { recursive: true, encoding: "utf8" }).map((file) => `${part}/${file}`),
    )
    .filter((file) => file.endsWith(".ts") && !SILENT.some((silent) => file.startsWith(silent)))
    .sort()
    .flatMap((file) => messagesIn(file, readFileSync(join(root, file), "utf8")));
}

/** The messages of one file. */
export function messagesIn(file: string, text: string): Message[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const talkative = TALKATIVE.some((folder) => file.startsWith(folder));
  const found: Message[] = [];
  const visit = (node: ts.Node, counts: boolean) => {
    const words = textOf(node);
    if (counts && words !== undefined && partsOf(words).length > 0) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      found.push({ place: `${file}:${line + 1}`, text: words });
    }
    ts.forEachChild(node, (child) => {
      if (!isCompared(node, child)) visit(child, counts || isError(node));
    });
  };
  visit(source, !talkative);
  return found;
}

/** The parts of a message between its values that are long enough to be known again. */
export function partsOf(text: string): string[] {
  return text
    .split("…")
    .filter((part) => (part.match(/\p{L}[\p{L}'’-]+/gu)?.length ?? 0) >= 3 && /\p{Ll} \p{Ll}/u.test(part))
    .map(normal);
}

/** Text without what markup adds to it. */
export const normal = (text: string) => text.replace(/[`\\]/g, "").replace(/\s+/g, " ").trim();

function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join("");
}

/** `new UsageError("…")`. The kit's own classes have other names, but for the one that carries the words of the service. */
const isError = (node: ts.Node) =>
  ts.isNewExpression(node) && /(?<!Service)Error$/.test(node.expression.getText());

/** What a value is compared with, or typed as, is shown to nobody. */
const isCompared = (node: ts.Node, child: ts.Node) =>
  ts.isLiteralTypeNode(node) || (ts.isCaseClause(node) && node.expression === child);
