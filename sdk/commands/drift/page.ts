import { VERSION } from "../../../provider/tokens";
import { count } from "../command";
import { Html, html } from "./html";
import { accountName, comparison, headline, sharedText } from "./outcome";
import { STYLE } from "./pageStyle";
import type { AccountReport, DriftedEndpoint, DriftReport, FieldChange, StackReport, Unseen } from "./report";
import { shownSides, visible } from "./shown";

/** What the outcome is called, where the headline does not begin with it, and how good that is. */
const OUTCOMES = {
  none: [undefined, "good"],
  repaired: ["Repaired", "good"],
  drift: ["Drift", "bad"],
  unrepaired: ["Not repaired", "bad"],
  unseen: ["Incomplete", "unsure"],
} as const;

/** Longer values are cut to the part where they differ. */
const MOST = 2000;

/** The report as one page that needs nothing beside itself, and lets nothing in it run or load. */
export function reportPage(report: DriftReport): string {
  const [word, mood] = OUTCOMES[report.outcome];
  const stacks = report.stacks.map(({ name }) => visible(name, 60));
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${word && `${word}: `}${headline(report)} (${stacks.slice(0, 3).join(", ")}${stacks.length > 3 ? ", …" : ""})</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<header>
<h1>Drift of cloud endpoints</h1>
<p class="outcome ${mood}">${word && html`<strong>${word}.</strong> `}${headline(report)}.</p>
<p class="quiet">Looked on ${time(report.startedAt)}, for ${seconds(report)}.${report.fix ? " With --fix." : ""}${report.failOnUnmanaged ? " Unmanaged endpoints count as drift." : ""}</p>
</header>
<main>
${overview(report)}
${report.shared.map(
  (each) => html`<p class="bad">${sharedText(each)}</p>
`,
)}${report.stacks.map(stackSection)}
${report.accounts.map(accountSection)}
</main>
<footer>
<p class="quiet">Written by pulumi-endpoints ${VERSION}. <q>Should be</q> is what the stack’s state holds, <q>is</q> what the service has. Secrets are left out.</p>
</footer>
</body>
</html>
`;
  return page.text;
}

function overview({ stacks }: DriftReport): Html {
  return html`<section aria-labelledby="overview">
<h2 id="overview">Overview</h2>
<table>
<caption>What was found in each stack</caption>
<thead><tr><th scope="col">Stack</th><th scope="col" class="number">Compared</th><th scope="col" class="number">Drifted</th><th scope="col" class="number">Unseen</th></tr></thead>
<tbody>
${stacks.map(
  ({ name, endpoints, compared, drifted, unseen }, index) =>
    html`<tr><th scope="row"><a href="#stack-${index}"><bdi>${visible(name)}</bdi></a></th><td class="number">${compared === endpoints ? endpoints : `${compared} of ${endpoints}`}</td><td class="number">${drifted.length}</td><td class="number">${unseen.length}</td></tr>
`,
)}</tbody>
</table>
</section>`;
}

function stackSection(stack: StackReport, index: number): Html {
  const { name, endpoints, drifted, unseen } = stack;
  const partly = comparison([stack]);
  const none = partly === undefined ? [`No drift was found in ${count(endpoints, "cloud endpoint")}.`] : [];
  const some = `${drifted.length} of ${count(endpoints, "cloud endpoint")} drifted.`;
  const rest = partly === undefined ? [] : [`Not everything was seen: ${partly}.`];
  const found = [...(drifted.length === 0 ? none : [some]), ...rest].join(" ");
  return html`<section aria-labelledby="stack-${index}">
<h2 id="stack-${index}">Stack <bdi>${visible(name)}</bdi></h2>
<p>${found}</p>
${unseenList(unseen)}${drifted.map(endpointArticle)}
</section>`;
}

function endpointArticle(endpoint: DriftedEndpoint): Html {
  const { name, url, id, drift, changes, repair } = endpoint;
  return html`<article>
<h3><bdi>${visible(name)}</bdi>: <span class="word bad">${drift}</span>${repair && repairWord(repair)}</h3>
<p class="quiet">${url === undefined ? undefined : html`<bdi>${visible(url)}</bdi>, `}<bdi>${visible(id)}</bdi></p>
${drift === "deleted" ? html`<p>The service did not have this endpoint any more.</p>` : changesTable(name, changes)}
${repair?.reason === undefined ? undefined : html`<p class="reason bad">Not repaired: ${visible(repair.reason, MOST)}</p>`}
</article>
`;
}

function repairWord({ done }: NonNullable<DriftedEndpoint["repair"]>): Html {
  return done
    ? html`, <span class="word good">repaired</span>`
    : html`, <span class="word bad">not repaired</span>`;
}

/** The roles say again what the elements are, since a narrow screen shows them as blocks. */
function changesTable(name: string, changes: FieldChange[]): Html {
  return html`<table class="changes" role="table">
<caption>What differs in <bdi>${visible(name)}</bdi></caption>
<thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">Field</th><th scope="col" role="columnheader">Should be</th><th scope="col" role="columnheader">Is</th></tr></thead>
<tbody role="rowgroup">
${changes.map((change) => {
  const { expected, live } = shownSides(change, MOST);
  return html`<tr role="row"><th scope="row" role="rowheader"><code>${breakable(visible(change.path))}</code></th><td role="cell" data-label="Should be">${value(expected)}</td><td role="cell" data-label="Is">${value(live)}</td></tr>
`;
})}</tbody>
</table>`;
}

/** A long path goes on in the next line after one of its parts. */
const breakable = (path: string): Html[] =>
  path.split(/(?<=\.)/).map((part, index) => (index > 0 ? html`<wbr>${part}` : html`${part}`));

const value = (shown: string | undefined): Html =>
  shown === undefined ? html`<em>nothing</em>` : html`<code dir="auto">${shown}</code>`;

function accountSection(
  { service, stacks, endpoints, unmanaged, unseen }: AccountReport,
  index: number,
): Html {
  const of = count(endpoints, "cloud endpoint");
  const found =
    unmanaged.length === 0
      ? `None of ${of} was found to be unmanaged.`
      : `${unmanaged.length} of ${of} ${unmanaged.length === 1 ? "is" : "are"} managed by none of the stacks given. That is reported, and never touched.`;
  return html`<section aria-labelledby="account-${index}">
<h2 id="account-${index}"><bdi>${accountName({ service, stacks })}</bdi></h2>
${endpoints > 0 ? html`<p>${found}</p>` : undefined}
${unseenList(unseen)}${unmanaged.length === 0 ? undefined : unmanagedTable(unmanaged)}
</section>`;
}

function unmanagedTable(unmanaged: AccountReport["unmanaged"]): Html {
  return html`<table>
<caption>Unmanaged cloud endpoints, newest first</caption>
<thead><tr><th scope="col">Endpoint</th><th scope="col">Description</th><th scope="col">Created</th></tr></thead>
<tbody>
${unmanaged.map(
  ({ id, url, description, createdAt, createdFor }) =>
    html`<tr><th scope="row"><bdi>${visible(url ?? "without a URL")}</bdi><br><code>${visible(id)}</code></th><td dir="auto">${description === undefined ? html`<em>none</em>` : visible(description)}</td><td class="date">${createdAt === undefined ? "unknown" : html`<time datetime="${createdAt}">${createdAt.slice(0, 10)}</time>`}${createdFor && html`<br>for ${visible(createdFor)}`}</td></tr>
`,
)}</tbody>
</table>`;
}

function unseenList(unseen: Unseen[]): Html | undefined {
  if (unseen.length === 0) return undefined;
  return html`<h3>Could not be seen</h3>
<ul>
${unseen.map(
  ({ what, reason }) => html`<li><strong>${visible(what)}</strong>: ${visible(reason, MOST)}</li>
`,
)}</ul>
`;
}

const time = (iso: string): Html =>
  html`<time datetime="${iso}">${iso.slice(0, 16).replace("T", " at ")} UTC</time>`;

function seconds({ startedAt, endedAt }: DriftReport): string {
  return count(Math.max(1, Math.round((Date.parse(endedAt) - Date.parse(startedAt)) / 1000)), "second");
}
