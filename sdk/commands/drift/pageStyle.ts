/*
 * Colours only repeat what words say. On a narrow screen each row of a table of changes becomes a block; the roles in the
 * markup keep it a table for those who hear it, and the labels that stand in for the headings are for the eye alone.
 */
export const STYLE = `
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
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.changes { table-layout: fixed; }
.changes th:first-child { width: 38%; }
.changes tbody th { font-weight: 400; }
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
