import { VERSION } from "../../../provider/api/version";
import { count } from "../command";
import type {
  AccountReport,
  DriftedEndpoint,
  DriftReport,
  FieldChange,
  StackReport,
  UnmanagedEndpoint,
} from "./report";
import {
  accountName,
  ageText,
  type Cause,
  capital,
  causesOf,
  commonCauses,
  elsewhereText,
  findings,
  headline,
  isClean,
  OUTCOMES,
  seenText,
  sharedText,
  shownSides,
  sorted,
  UNMANAGED_REMEDY,
  undeployedText,
  unmanagedText,
  unusedIgnoreText,
  visible,
} from "./reportText";

/** The most characters of a value. Of longer values, only the part around the difference is shown. */
const MOST_CHARACTERS = 2000;

/** The report as a page in one file. Its security policy allows no script and no request. */
export function reportPage(report: DriftReport): string {
  const [word, mood] = OUTCOMES[report.outcome];
  const names = report.stacks.map(({ name }) => visible(name, 60));
  const { common, ownCauses } = commonCauses(report.stacks);
  const stacks = sorted(report.stacks).filter((stack) => !isClean(stack));
  const clean = report.stacks.filter(isClean);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${word && `${word}: `}${headline(report)} (${names.slice(0, 3).join(", ")}${names.length > 3 ? ", …" : ""})</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<header id="top">
<h1>Drift of cloud endpoints</h1>
<p class="outcome ${mood}">${word && html`<strong>${word}.</strong> `}${headline(report)}.</p>
<p class="quiet">Checked on ${time(report.startedAt)}, in ${durationText(report)}.${report.fix ? " With --fix." : ""}${report.failOnUnmanaged ? " Unmanaged endpoints count as drift." : ""}</p>
</header>
<main>
${overview(stacks, clean)}
${causesList(common)}${report.shared.map(
  (each) => html`<p class="bad">${sharedText(each)}</p>
`,
)}${stacks.map((stack, index) => stackSection(stack, ownCauses(stack), index))}
${report.accounts.map((account, index) => accountSection(account, index, report))}
${report.unusedIgnores.map(
  (entry) => html`<p class="reason unsure">${capital(unusedIgnoreText(entry))}.</p>
`,
)}</main>
<footer>
<p class="quiet">Written by pulumi-endpoints ${VERSION}. <q>Should be</q> is the value in the stack’s state, <q>is</q> the value on the service. Secrets are masked.</p>
</footer>
</body>
</html>
`;
  return page.text;
}

/** The index: the stacks with findings, with links, then the others in a fold. */
function overview(stacks: StackReport[], clean: StackReport[]): Html {
  return html`<nav aria-labelledby="overview">
<h2 id="overview">Overview</h2>
${
  stacks.length > 0
    ? stackTable(
        "Findings by stack",
        stacks,
        (name, index) => html`<a href="#stack-${index}"><bdi>${name}</bdi></a>`,
      )
    : undefined
}${
  clean.length > 0
    ? html`<details${clean.length > MOST_CLEAN ? undefined : " open"}>
<summary>${count(clean.length, stacks.length > 0 ? "other stack" : "stack")}: ${findings(clean)}</summary>
${stackTable("Stacks without findings", clean, (name) => html`<bdi>${name}</bdi>`)}
</details>`
    : undefined
}
</nav>`;
}

/** More stacks without findings are folded. */
const MOST_CLEAN = 3;

function stackTable(
  caption: string,
  stacks: StackReport[],
  shownName: (name: string, index: number) => Html,
): Html {
  return html`<table>
<caption>${caption}</caption>
<thead><tr><th scope="col">Stack</th><th scope="col" class="number">Compared</th><th scope="col" class="number">Drifted</th><th scope="col" class="number">Unchecked</th></tr></thead>
<tbody>
${stacks.map(
  ({ name, endpoints, compared, drifted, unchecked }, index) =>
    html`<tr><th scope="row">${shownName(visible(name), index)}</th><td class="number">${compared === endpoints ? endpoints : `${compared} of ${endpoints}`}</td><td class="number">${drifted.length}</td><td class="number">${unchecked.length}</td></tr>
`,
)}</tbody>
</table>`;
}

const backToTop = () => html`<p class="top"><a href="#top">Back to the top</a></p>`;

function stackSection(stack: StackReport, causes: Cause[], index: number): Html {
  const { name, drifted, undeployed } = stack;
  return html`<section aria-labelledby="stack-${index}">
<h2 id="stack-${index}">Stack <bdi>${visible(name)}</bdi></h2>
<p>${capital(findings([stack]))}.</p>
${
  undeployed === undefined
    ? undefined
    : html`<p class="reason bad">${undeployedText(undeployed)}</p>
`
}${causesList(causes)}${drifted.map(endpointArticle)}${backToTop()}
</section>`;
}

function endpointArticle(endpoint: DriftedEndpoint): Html {
  const { name, url, id, drift, changes, repair } = endpoint;
  const [word, mood] = repair?.done ? ["repaired", "good"] : ["not repaired", "bad"];
  return html`<article>
<h3><bdi>${visible(name)}</bdi>: <span class="word bad">${drift}</span>${repair && html`, <span class="word ${mood}">${word}</span>`}</h3>
<p class="quiet">${url === undefined ? undefined : html`<bdi>${visible(url)}</bdi>, `}<bdi>${visible(id)}</bdi>${seenText(endpoint).map((text) => html`, <bdi>${text}</bdi>`)}</p>
${drift === "deleted" ? html`<p>The endpoint was deleted on the service.</p>` : changesTable(name, changes)}
${repair?.reason === undefined ? undefined : html`<p class="reason bad">Not repaired: ${visible(repair.reason, MOST_CHARACTERS)}</p>`}
</article>
`;
}

/** On a narrow screen the rows are blocks, so the roles keep the table for screen readers. */
function changesTable(name: string, changes: FieldChange[]): Html {
  return html`<table class="changes" role="table">
<caption>What differs in <bdi>${visible(name)}</bdi></caption>
<thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">Field</th><th scope="col" role="columnheader">Should be</th><th scope="col" role="columnheader">Is</th></tr></thead>
<tbody role="rowgroup">
${changes.map((change) => {
  const { expected, live } = shownSides(change, MOST_CHARACTERS);
  return html`<tr role="row"><th scope="row" role="rowheader"><code>${breakable(visible(change.path))}</code></th><td role="cell" data-label="Should be">${value(expected)}</td><td role="cell" data-label="Is">${value(live)}</td></tr>
`;
})}</tbody>
</table>`;
}

/** A long path may break after each of its parts. */
const breakable = (path: string): Html[] =>
  path.split(/(?<=\.)/).map((part, index) => (index > 0 ? html`<wbr>${part}` : html`${part}`));

const value = (shown: string | undefined): Html =>
  shown === undefined ? html`<em>nothing</em>` : html`<code dir="auto">${shown}</code>`;

function accountSection(account: AccountReport, index: number, report: DriftReport): Html {
  const { endpoints, unmanaged, others, ignored, unchecked } = account;
  const elsewhere = elsewhereText(account);
  return html`<section aria-labelledby="account-${index}">
<h2 id="account-${index}"><bdi>${accountName(account)}</bdi></h2>
${endpoints > 0 ? html`<p>${capital(unmanagedText(account))}.${unmanaged.length > 0 ? ` ${UNMANAGED_REMEDY}` : undefined}${elsewhere && ` ${elsewhere}.`}</p>` : undefined}
${causesList(causesOf(unchecked))}${endpointsTable("Unmanaged cloud endpoints, newest first", unmanaged, report)}${endpointsTable("Marked for other projects, newest first", others, report)}${
  ignored.length === 0
    ? undefined
    : html`<details>
<summary>${count(ignored.length, "ignored endpoint")}</summary>
<ul>
${ignored.map(
  ({ id, url, reason }) => html`<li><bdi>${visible(url ?? id)}</bdi>: ${visible(reason, MOST_CHARACTERS)}</li>
`,
)}</ul>
</details>
`
}${backToTop()}
</section>`;
}

/** More endpoints are folded. */
const MOST_ENDPOINTS = 20;

function endpointsTable(
  caption: string,
  endpoints: UnmanagedEndpoint[],
  report: DriftReport,
): Html | undefined {
  if (endpoints.length === 0) return undefined;
  const table = html`<table>
<caption>${caption}</caption>
<thead><tr><th scope="col">Endpoint</th><th scope="col">Description</th><th scope="col">Created, changed</th></tr></thead>
<tbody>
${endpoints.map((endpoint) => {
  const { id, url, description, createdAt, createdFor, deleteCommand } = endpoint;
  return html`<tr><th scope="row"><bdi>${visible(url ?? "without a URL")}</bdi><br><code>${visible(id)}</code>${deleteCommand && html`<br><code class="quiet">${visible(deleteCommand, MOST_CHARACTERS)}</code>`}</th><td dir="auto">${description === undefined ? html`<em>none</em>` : visible(description)}</td><td class="date">${createdAt === undefined ? "unknown" : html`<time datetime="${createdAt}">${createdAt.slice(0, 10)}</time><br>${ageText(createdAt, report)}`}${seenText(endpoint).map((text) => html`<br>${text}`)}${createdFor && html`<br>${visible(`for ${createdFor}`)}`}</td></tr>
`;
})}</tbody>
</table>`;
  return endpoints.length > MOST_ENDPOINTS
    ? html`<details>
<summary>${caption}: ${endpoints.length}</summary>
${table}
</details>`
    : table;
}

function causesList(causes: Cause[]): Html | undefined {
  if (causes.length === 0) return undefined;
  return html`<h3>Unchecked</h3>
<ul>
${causes.map(
  ({ what, reason }) => html`<li><strong>${visible(what)}</strong>: ${visible(reason, MOST_CHARACTERS)}</li>
`,
)}</ul>
`;
}

const time = (iso: string): Html =>
  html`<time datetime="${iso}">${iso.slice(0, 16).replace("T", " at ")} UTC</time>`;

function durationText({ startedAt, endedAt }: DriftReport): string {
  return count(Math.max(1, Math.round((Date.parse(endedAt) - Date.parse(startedAt)) / 1000)), "second");
}

/** Text that is already HTML. */
class Html {
  constructor(readonly text: string) {}
}

type HtmlPart = Html | string | number | undefined | readonly HtmlPart[];

/** A template of HTML. It escapes every value that is not already HTML. */
function html(strings: TemplateStringsArray, ...parts: HtmlPart[]): Html {
  return new Html(strings.map((string, index) => string + htmlOf(parts[index])).join(""));
}

function htmlOf(part: HtmlPart): string {
  if (part === undefined) return "";
  if (Array.isArray(part)) return part.map(htmlOf).join("");
  if (part instanceof Html) return part.text;
  return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Colours only repeat the words. On a narrow screen, visual labels before the cells replace the headings. */
const STYLE = `
:root {
  color-scheme: light dark;
  --text: #1c2128; --quiet: #57606a; --page: #ffffff; --panel: #f6f8fa; --line: #d0d7de; --link: #0550ae;
  --bad: #a40e26; --bad-back: #ffebe9; --good: #116329; --good-back: #dafbe1; --unsure: #7d4e00; --unsure-back: #fff8c5;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6edf3; --quiet: #9da7b3; --page: #0d1117; --panel: #161b22; --line: #30363d; --link: #79c0ff;
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
table { width: 100%; border-collapse: collapse; }
caption { padding: .25rem 0; text-align: left; color: var(--quiet); font-size: .9rem; }
th, td { padding: .4rem .5rem; border-top: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { color: var(--quiet); font-size: .85rem; font-weight: 600; white-space: nowrap; overflow-wrap: normal; }
tbody th { font-weight: 600; }
.date time { white-space: nowrap; }
footer { margin-top: 2.5rem; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.changes { table-layout: fixed; }
.changes th:first-child { width: 38%; }
.changes tbody th { font-weight: 400; }
.top { font-size: .9rem; }
summary { padding: .4rem 0; cursor: pointer; }
.reason { padding: .5rem .75rem; border-radius: .25rem; }
@media (max-width: 40rem) {
  body { padding: 1rem .75rem 2rem; }
  th, td { padding: .35rem .3rem; }
  article { padding: .75rem; }
  .changes, .changes caption, .changes tbody, .changes tr, .changes th, .changes td { display: block; width: auto; }
  .changes thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  .changes tr { padding: .5rem 0; border-top: 1px solid var(--line); }
  .changes th, .changes td { padding: .1rem 0; border: 0; }
  .changes tbody th:first-child { width: auto; }
  .changes td::before { content: attr(data-label) ": "; content: attr(data-label) ": " / ""; color: var(--quiet); font-size: .85rem; }
}
@media print { article { break-inside: avoid; } }
`;
