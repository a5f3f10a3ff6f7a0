import { VERSION } from "../../../provider/service/version";
import type { DriftReport } from "./report";
import { capital, type Item, type Section, timeText, viewOf } from "./reportView";

/** The report as a page in one file. Its security policy allows no script and no request. */
export function reportPage(report: DriftReport): string {
  const { mood, headline, sections } = viewOf(report);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${headline}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<h1>Drift of cloud endpoints</h1>
<p class="outcome ${mood}">${headline}.</p>
<p class="quiet">Checked on ${timeText(report.startedAt)} by pulumi-endpoints ${VERSION}. Secrets are masked.</p>
${sections.map(sectionOf)}</main>
</body>
</html>
`;
  return page.text;
}

const sectionOf = ({ title, summary, remedy, items }: Section): Html => html`<section>
<h2><bdi>${title}</bdi></h2>
${summary !== undefined && html`<p>${capital(summary)}.</p>\n`}${remedy !== undefined && html`<p>${prose(remedy)}</p>\n`}${items.map(article)}</section>
`;

const article = ({ word, mood, subject, text, changes = [], lines = [] }: Item): Html => html`<article>
<h3><span class="word ${mood}">${word}</span> <bdi>${prose(subject)}</bdi></h3>
${text !== undefined && html`<p>${prose(text)}</p>\n`}${changes.map(change)}${lines.map(
  ({ line }) => html`<p><code>${line}</code></p>\n`,
)}</article>
`;

const change = ([path, expected, live]: NonNullable<Item["changes"]>[number]): Html => html`<dl>
<dt>field</dt><dd><code>${path}</code></dd>
<dt>should be</dt><dd><code dir="auto">${expected}</code></dd>
<dt>is</dt><dd><code dir="auto">${live}</code></dd>
</dl>
`;

/** A text with its parts between backticks as code. */
const prose = (text: string): Html[] =>
  text
    .split(/`([^`]*)`/)
    .map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));

/** Text that is already HTML. */
class Html {
  constructor(readonly text: string) {}
}

type HtmlPart = Html | string | false | readonly Html[];

/** A template of HTML. It escapes every value that is not already HTML. */
function html(strings: TemplateStringsArray, ...parts: HtmlPart[]): Html {
  return new Html(strings.map((string, index) => string + htmlOf(parts[index] ?? "")).join(""));
}

function htmlOf(part: HtmlPart): string {
  if (part === false) return "";
  if (part instanceof Html) return part.text;
  if (typeof part !== "string") return part.map(({ text }) => text).join("");
  return part.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Colours only repeat the words. */
const STYLE = `
:root {
  color-scheme: light dark;
  --text: #1c2128; --quiet: #57606a; --page: #ffffff; --line: #d0d7de;
  --bad: #a40e26; --bad-back: #ffebe9; --good: #116329; --good-back: #dafbe1; --unsure: #7d4e00; --unsure-back: #fff8c5;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6edf3; --quiet: #9da7b3; --page: #0d1117; --line: #30363d;
    --bad: #ffa198; --bad-back: #3c1618; --good: #7ee787; --good-back: #12301c; --unsure: #f2cc60; --unsure-back: #35270b;
  }
}
body {
  margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 62rem; overflow-wrap: anywhere;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  color: var(--text); background: var(--page);
}
h1 { margin: 0 0 .75rem; font-size: 1.6rem; line-height: 1.2; }
h2 { margin: 2.5rem 0 .5rem; font-size: 1.25rem; line-height: 1.3; }
h3 { margin: 0 0 .25rem; font-size: 1rem; font-weight: 400; line-height: 1.4; }
p, dl { margin: .25rem 0 .75rem; }
.outcome { padding: .75rem 1rem; border-left: .35rem solid; border-radius: .25rem; font-size: 1.1rem; }
.bad { color: var(--bad); background: var(--bad-back); }
.good { color: var(--good); background: var(--good-back); }
.unsure { color: var(--unsure); background: var(--unsure-back); }
.quiet, dt { color: var(--quiet); font-size: .9rem; }
.word { padding: .1em .5em; border-radius: 1em; font-size: .85em; font-weight: 600; white-space: nowrap; }
article { margin: 1rem 0; padding: .9rem 1rem; border: 1px solid var(--line); border-radius: .5rem; }
article > :last-child { margin-bottom: 0; }
dl { display: grid; grid-template-columns: 5.5rem 1fr; padding-top: .5rem; border-top: 1px solid var(--line); }
dd { margin: 0; }
code { font: .875rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre-wrap; }
@media print { article { break-inside: avoid; } }
`;
