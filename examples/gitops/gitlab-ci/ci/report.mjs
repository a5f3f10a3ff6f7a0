/*
 * Reports results to GitLab, without duplicates:
 *
 *   node ci/report.mjs preview FOLDER      one comment on the merge request, updated by every later preview. The variable
 *                                          PREVIEWED has the name of each stack on a line
 *   node ci/report.mjs issue               prints the number of the open issue, if there is one
 *   node ci/report.mjs drift FOUND FILE    one issue while there is drift (7), or a run that failed or was killed (8), closed if
 *                                          there is neither (0), and kept if a program differs from its state or cannot be
 *                                          compared (differs)
 *
 * The program finds its comments and issues by their author, who is the token's user, and by their first line.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [what, ...given] = process.argv.slice(2);
const {
  CI_API_V4_URL,
  CI_PROJECT_ID,
  CI_MERGE_REQUEST_IID,
  CI_COMMIT_SHA,
  CI_JOB_URL,
  PROJECTS,
  PREVIEWED,
  GITLAB_TOKEN,
} = process.env;
const project = `${CI_API_V4_URL}/projects/${CI_PROJECT_ID}`;
const issues = `${project}/issues`;
const marker = `<!-- endpoints ${what === "preview" ? "preview" : "drift"} of ${PROJECTS} -->`;
const me = await (await call("GET", `${CI_API_V4_URL}/user`)).json();

if (what === "preview") await reportPreviews(given[0]);
else if (what === "issue") console.log((await openIssue())?.iid ?? "");
else if (what === "drift") await reportDrift(given[0], readFileSync(given[1], "utf8"));
else throw new Error("report.mjs takes preview, issue or drift");

async function reportPreviews(folder) {
  // A job that failed early, or was killed, left no file or not all of them.
  const previews = PREVIEWED.split("\n").map((name, number) => {
    const read = (file) => {
      const path = join(folder, `${number}`, file);
      return existsSync(path) ? readFileSync(path, "utf8") : undefined;
    };
    const code = read("outcome.txt")?.trim();
    const text = read("preview.txt") ?? "There is no preview: the job failed before it.";
    // The last lines of a preview count the changes: `+ 3 to create`.
    const counts = text.split(/^Resources:$/m)[1]?.match(/^ +\S* ?\d+ to [a-z]+$/gm) ?? [];
    const failed = code ? `failed (${code})` : "failed";
    const changes = code === "0" ? counts.map((count) => count.trim()).join(", ") : failed;
    return { name: `<code>${escaped(name)}</code>`, text, changes };
  });
  const shown = previews.filter(({ changes }) => changes);
  const failed = shown.filter(({ changes }) => changes.startsWith("failed")).length;
  const unchanged = previews.filter(({ changes }) => !changes).map(({ name }) => name);
  const body = [
    marker,
    `**Preview for ${CI_COMMIT_SHA}: ${shown.length - failed} with changes, ${unchanged.length} without, ${failed} failed** ([the last job](${CI_JOB_URL}))`,
    "",
    ...shown.map(
      ({ name, text, changes }) =>
        `<details><summary>${name}: ${escaped(changes)}</summary>\n\n${quoted(text, 100_000 / shown.length)}</details>`,
    ),
    "",
    `Without changes: ${unchanged.join(" ") || "none"}`,
  ].join("\n");
  const notes = `${project}/merge_requests/${CI_MERGE_REQUEST_IID}/notes`;
  const earlier = await find(`${notes}?`, (note) => isOurs(note, note.body));
  if (earlier) await call("PUT", `${notes}/${earlier.id}`, { body });
  else await call("POST", notes, { body });
}

function openIssue() {
  return find(`${issues}?state=opened&labels=endpoints-drift&`, (issue) => isOurs(issue, issue.description));
}

async function reportDrift(found, report) {
  const open = await openIssue();
  if (found === "0") {
    if (open) await call("PUT", `${issues}/${open.iid}`, { state_event: "close" });
    return;
  }
  // This is no reason to open an issue, and keeps an open issue open.
  if (found === "differs" && !open) return;
  // The report begins with its outcome.
  const outcome = escaped(report.split("\n")[0]);
  const whole = `**${outcome}** The whole report is an artifact of [the last job](${CI_JOB_URL}).`;
  const headlines = {
    7: `${whole} To restore the endpoints, run a pipeline with \`REPAIR\` set to \`true\`. This issue closes by itself when there is no difference.`,
    8: `${whole} The last run of a stack failed or was killed, or a refresh may have written edits into its state, and the report says which. Run a pipeline, after a killed run with \`RECOVER\` set to \`true\`, and with what follows endpoints:adopt= in \`ADOPT\`. This issue closes by itself when the run has succeeded.`,
    differs: `The endpoints match the states of their stacks, but these programs do not, or their previews failed ([the last job](${CI_JOB_URL})). A failed repair or a pending deployment causes this. To deploy the programs, run a pipeline. This issue closes by itself when there is no difference.`,
  };
  // An edit sends no notification, so lasting drift is reported once.
  const description = `${marker}\n${headlines[found]}\n\n${quoted(report, 100_000)}`;
  if (open) await call("PUT", `${issues}/${open.iid}`, { description });
  else
    await call("POST", issues, {
      title: `Endpoints of ${PROJECTS} are not as deployed`,
      labels: "endpoints-drift",
      description,
    });
}

/** The text is escaped and within <pre>, so it cannot format, mention people, or run commands of GitLab with a leading `/`. */
function quoted(text, length) {
  return `<pre>\n${escaped(text.slice(0, length))}\n</pre>\n`;
}

function escaped(text) {
  const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "/": "&#47;", "@": "&#64;" };
  return text.replace(/[&<>/@]/g, (sign) => entities[sign]);
}

/** Checks the author, too, because anybody can write the marker. */
function isOurs({ author }, text) {
  return author.id === me.id && text?.startsWith(marker);
}

/** The first match on any page. */
async function find(url, isWanted) {
  for (let page = "1"; page; ) {
    const response = await call("GET", `${url}per_page=100&page=${page}`);
    const found = (await response.json()).find(isWanted);
    if (found) return found;
    page = response.headers.get("x-next-page");
  }
}

async function call(method, url, body) {
  const response = await fetch(url, {
    method,
    headers: { "PRIVATE-TOKEN": GITLAB_TOKEN, "Content-Type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${url} was answered with ${response.status}`);
  return response;
}
