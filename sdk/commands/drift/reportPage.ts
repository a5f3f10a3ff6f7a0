import { VERSION } from "../../../provider/api/version";
import { count } from "../text";

import type { DriftReport } from "./report";
import { CHANGE_HEADINGS, capital, type Item, type Section, timeText, viewOf } from "./reportView";

/** The report as a page in one file. Its security policy allows no script and no request. */
export function reportPage(report: DriftReport): string {
  const { word, mood, headline, sections } = viewOf(report);
  const unfolded = sections.flatMap((section, index) => (section.isFolded ? [] : [{ section, index }]));
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${word && `${word}: `}${headline}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<header>
<h1>Drift of cloud endpoints</h1>
<p class="outcome ${mood}">${word && html`<strong>${word}.</strong> `}${headline}.</p>
<p class="quiet">Checked on ${timeText(report.startedAt)}, in ${durationText(report)}.${report.fix && " With --fix."}${report.failOnUnmanaged && " Unmanaged endpoints count as drift."}</p>
</header>
<nav aria-label="Sections">
<ul>
${unfolded.map(
  ({ section: { title, summary }, index }) =>
    html`<li><a href="#section-${index}"><bdi>${title}</bdi></a>${summary && `: ${summary}`}</li>
`,
)}</ul>
</nav>
<main>
${sections.map(sectionOf)}</main>
<footer>
<p class="quiet">Written by pulumi-endpoints ${VERSION}. <q>Should be</q> is the value in the stack’s state, <q>is</q> the value on the service. Secrets are masked.</p>
</footer>
</body>
</html>
`;
  return page.text;
}

function sectionOf({ title, summary, remedy, items, isFolded }: Section, index: number): Html {
  if (isFolded)
    return html`<details>
<summary>${title}${summary && `: ${summary}`}</summary>
${items.map(article)}</details>
`;
  return html`<section aria-labelledby="section-${index}">
<h2 id="section-${index}"><bdi>${title}</bdi></h2>
${
  summary &&
  html`<p>${capital(summary)}.${remedy && ` ${remedy}`}</p>
`
}${items.map(article)}</section>
`;
}

function article({ word, mood, name, facts, text, changes = [], command }: Item): Html {
  return html`<article>
<h3>${word && html`<span class="word ${mood}">${word}</span> `}<bdi>${name}</bdi></h3>
${
  facts &&
  html`<p class="quiet">${facts.map((fact, index) => html`${index > 0 && ", "}<bdi>${fact}</bdi>`)}</p>
`
}${
  text &&
  html`<p>${text}</p>
`
}${changes.length > 0 && changesTable(changes, name)}${
  command &&
  html`<p><code>${command}</code></p>
`
}</article>
`;
}

/** On a narrow screen the rows are blocks, so the roles keep the table for screen readers. */
function changesTable(changes: NonNullable<Item["changes"]>, name: string | undefined): Html {
  const [field, expected, live] = CHANGE_HEADINGS.map(capital);
  const cell = (label: string | undefined, value: string) =>
    html`<td role="cell" data-label="${label}"><code dir="auto">${value}</code></td>`;
  return html`<table role="table" aria-label="What differs in ${name}">
<thead role="rowgroup"><tr role="row">${[field, expected, live].map((text) => html`<th scope="col" role="columnheader">${text}</th>`)}</tr></thead>
<tbody role="rowgroup">
${changes.map(
  ([
    path,
    a,
    b,
  ]) => html`<tr role="row"><th scope="row" role="rowheader"><code>${breakable(path)}</code></th>${cell(expected, a)}${cell(live, b)}</tr>
`,
)}</tbody>
</table>
`;
}

/** A long path may break after each of its parts. */
const breakable = (path: string): Html[] =>
  path.split(/(?<=\.)/).map((part, index) => html`${index > 0 && new Html("<wbr>")}${part}`);

function durationText({ startedAt, endedAt }: DriftReport): string {
  return count(Math.max(1, Math.round((Date.parse(endedAt) - Date.parse(startedAt)) / 1000)), "second");
}

/** Text that is already HTML. */
class Html {
  constructor(readonly text: string) {}
}

type HtmlPart = Html | string | number | false | undefined | readonly HtmlPart[];

/** A template of HTML. It escapes every value that is not already HTML. */
function html(strings: TemplateStringsArray, ...parts: HtmlPart[]): Html {
  return new Html(strings.map((string, index) => string + htmlOf(parts[index])).join(""));
}

function htmlOf(part: HtmlPart): string {
  if (part === undefined || part === false) return "";
  if (Array.isArray(part)) return part.map(htmlOf).join("");
  if (part instanceof Html) return part.text;
  return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Colours only repeat the words. On a narrow screen, visual labels before the cells replace the headings. */
const STYLE = `
:root {
  color-scheme: light dark;
  --text: #1c2128; --quiet: #57606a; --page: #ffffff; --line: #d0d7de; --link: #0550ae;
  --bad: #a40e26; --bad-back: #ffebe9; --good: #116329; --good-back: #dafbe1; --unsure: #7d4e00; --unsure-back: #fff8c5;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6edf3; --quiet: #9da7b3; --page: #0d1117; --line: #30363d; --link: #79c0ff;
    --bad: #ffa198; --bad-back: #3c1618; --good: #7ee787; --good-back: #12301c; --unsure: #f2cc60; --unsure-back: #35270b;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 62rem; overflow-wrap: anywhere;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  color: var(--text); background: var(--page);
}
h1 { margin: 0 0 .75rem; font-size: 1.6rem; line-height: 1.2; }
h2 { margin: 2.5rem 0 .5rem; font-size: 1.25rem; line-height: 1.3; }
h3 { margin: 0 0 .25rem; font-size: 1.05rem; line-height: 1.4; }
p { margin: .25rem 0 .75rem; }
a { color: var(--link); }
.outcome { padding: .75rem 1rem; border-left: .35rem solid; border-radius: .25rem; font-size: 1.1rem; }
.bad { color: var(--bad); background: var(--bad-back); }
.good { color: var(--good); background: var(--good-back); }
.unsure { color: var(--unsure); background: var(--unsure-back); }
.quiet { color: var(--quiet); font-size: .9rem; }
.word { padding: .1em .5em; border-radius: 1em; font-size: .85em; font-weight: 600; white-space: nowrap; }
article { margin: 1rem 0; padding: .9rem 1rem; border: 1px solid var(--line); border-radius: .5rem; }
article > :last-child, .outcome { margin-bottom: 0; }
code { font: .875rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre-wrap; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; }
th:first-child { width: 38%; }
tbody th { font-weight: 400; }
th, td { padding: .4rem .5rem; border-top: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { color: var(--quiet); font-size: .85rem; font-weight: 600; white-space: nowrap; overflow-wrap: normal; }
footer { margin-top: 2.5rem; }
nav ul { margin: 0; padding-left: 1.25rem; }
details { margin: 1.5rem 0; }
summary { padding: .4rem 0; cursor: pointer; font-weight: 600; }
details article { margin: 0; padding: .4rem 0; border-width: 1px 0 0; border-radius: 0; }
@media (max-width: 40rem) {
  body { padding: 1rem .75rem 2rem; }
  article { padding: .75rem; }
  table, tbody, tr, th, th:first-child, td { display: block; width: auto; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  tr { padding: .5rem 0; border-top: 1px solid var(--line); }
  th, td { padding: .1rem 0; border: 0; }
  td::before { content: attr(data-label) ": "; content: attr(data-label) ": " / ""; color: var(--quiet); font-size: .85rem; }
}
@media print { article { break-inside: avoid; } }
`;
