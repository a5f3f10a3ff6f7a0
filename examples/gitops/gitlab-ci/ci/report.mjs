/*
 * Reports the result of a job to GitLab, without duplicates:
 *
 *   node ci/report.mjs preview CODE FILE   one comment on the merge request, updated by every later preview
 *   node ci/report.mjs drift FOUND FILE    one issue while there is drift (7), closed if there is none (0), and kept if the
 *                                          program differs from the state or cannot be compared (undeployed)
 *
 * It finds its comments and issues by their author, the token's user, and by their first line.
 */
import { readFileSync } from "node:fs";

const [what, code, file] = process.argv.slice(2);
const { CI_API_V4_URL, CI_PROJECT_ID, CI_MERGE_REQUEST_IID, CI_COMMIT_SHA, CI_JOB_URL, STACK, GITLAB_TOKEN } =
  process.env;
const project = `${CI_API_V4_URL}/projects/${CI_PROJECT_ID}`;
const marker = `<!-- endpoints ${what} of ${STACK} -->`;
const me = await (await call("GET", `${CI_API_V4_URL}/user`)).json();

if (what === "preview") await reportPreview();
else if (what === "drift") await reportDrift();
else throw new Error("report.mjs takes preview or drift");

async function reportPreview() {
  const notes = `${project}/merge_requests/${CI_MERGE_REQUEST_IID}/notes`;
  const outcome = code === "0" ? "success" : `failure (${code})`;
  const body = message(
    `**Preview of \`${STACK}\` for ${CI_COMMIT_SHA}: ${outcome}** ([all of it](${CI_JOB_URL}))`,
  );
  const earlier = await find(`${notes}?`, (note) => isOurs(note, note.body));
  if (earlier) await call("PUT", `${notes}/${earlier.id}`, { body });
  else await call("POST", notes, { body });
}

async function reportDrift() {
  const issues = `${project}/issues`;
  const label = `endpoints-drift-${STACK}`;
  const open = await find(`${issues}?state=opened&labels=${label}&`, (issue) =>
    isOurs(issue, issue.description),
  );
  if (code === "0") {
    if (open) await call("PUT", `${issues}/${open.iid}`, { state_event: "close" });
    return;
  }
  // No reason to open an issue, and not enough to close one.
  if (code === "undeployed" && !open) return;
  const headline =
    code === "undeployed"
      ? `Endpoints of the stack \`${STACK}\` match its state, but the program does not, or its preview failed ([the last job](${CI_JOB_URL})). A failed repair or a pending deployment causes this. To deploy the program, run a pipeline.`
      : `Endpoints of the stack \`${STACK}\` differ from its state. The report is an artifact of [the last job](${CI_JOB_URL}). To restore them, run a pipeline with \`REPAIR\` set to \`true\`.`;
  // An edit sends no notification, so lasting drift is reported once.
  const description = message(`${headline} This issue closes by itself when there is no difference.`);
  if (open) await call("PUT", `${issues}/${open.iid}`, { description });
  else await call("POST", issues, { title: `Endpoints of ${STACK} drifted`, labels: label, description });
}

/** The text is escaped and within <pre>, so it cannot format, mention people, or run commands of GitLab with a leading `/`. */
function message(headline) {
  const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "/": "&#47;", "@": "&#64;" };
  const text = readFileSync(file, "utf8").slice(0, 100_000);
  return `${marker}\n${headline}\n\n<pre>\n${text.replace(/[&<>/@]/g, (sign) => entities[sign])}\n</pre>\n`;
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
