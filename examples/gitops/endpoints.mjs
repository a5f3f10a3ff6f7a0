/*
 * What the pipelines of GitHub and GitLab have in common. They run it in the root of the repository:
 *
 *   node endpoints.mjs preview       previews the stack STACK in FOLDER, and keeps its text for the comment
 *   node endpoints.mjs comment       one comment with all previews, which every later run updates
 *   node endpoints.mjs recover       after a killed run: clears the pending creates if the drift check has no other step to name
 *   node endpoints.mjs drift         compares all stacks with the service, and keeps the report in drift.txt and drift.html
 *   node endpoints.mjs issue CODE    one issue while that check ends with 7 (drift) or 8 (undeployed), closed when it ends with 0
 *
 * It finds its comment and its issue by their author, who is the token's user, and by their first line.
 */
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";

const { env } = process;
const { PROJECTS, PROJECT, FOLDER, STACK } = env;
const isOnGitHub = env.GITHUB_ACTIONS === "true";
const host = isOnGitHub ? gitHub() : gitLab();
const DRIFT = ["npx", "--no-install", "pulumi-endpoints", "drift", "--projects", PROJECTS];
const OF_STACK = ["--cwd", FOLDER, "--stack", STACK];
const QUIET = ["--non-interactive", "--color", "never"];
/** GitHub accepts 65,536. */
const MOST_CHARACTERS = 60_000;

const commands = { preview, comment, recover, drift, issue };
const [what, ...given] = process.argv.slice(2);
process.exitCode = await commands[what](...given);

function preview() {
  const folder = `previews/${env.NUMBER}`;
  mkdirSync(folder, { recursive: true });
  const command = ["pulumi", "preview", ...OF_STACK, "--diff", "--suppress-progress", ...QUIET];
  const code = runInto(`${folder}/preview.txt`, true, command);
  writeFileSync(`${folder}/outcome.txt`, `${code}`);
  return code;
}

async function comment() {
  // A job that failed early, or was killed, left no file or not all of them.
  const previews = JSON.parse(env.MATRIX).include.map(({ project, stack }, number) => {
    const read = (file) => {
      const path = `previews/${number}/${file}`;
      return existsSync(path) ? readFileSync(path, "utf8") : undefined;
    };
    const code = read("outcome.txt");
    const text = read("preview.txt") ?? "There is no preview: the job failed before it.";
    // The last lines of a preview count the changes: `+ 3 to create`.
    const counts = text.split(/^Resources:$/m)[1]?.match(/^ +\S* ?\d+ to [a-z]+$/gm) ?? [];
    const failed = code ? `failed (${code})` : "failed";
    const changes = code === "0" ? counts.map((count) => count.trim()).join(", ") : failed;
    return { name: `<code>${escaped(`${project} ${stack}`)}</code>`, text, changes };
  });
  const shown = previews.filter(({ changes }) => changes);
  const failed = shown.filter(({ changes }) => changes.startsWith("failed")).length;
  const unchanged = previews.filter(({ changes }) => !changes).map(({ name }) => name);
  const counts = `${shown.length - failed} with changes, ${unchanged.length} without, ${failed} failed`;
  const lines = [`**Preview for ${host.commit}: ${counts}** ([all of it](${host.run}))`, ""];
  let length = 0;
  for (const [at, { name, text, changes }] of shown.entries()) {
    // Many names alone could be longer than a comment.
    if (length > (MOST_CHARACTERS * 2) / 3) {
      lines.push(`And ${shown.length - at} more: see [the run](${host.run}).`);
      break;
    }
    const pre = quoted(text, MOST_CHARACTERS / 2 / shown.length);
    const line = `<details><summary>${name}: ${escaped(changes)}</summary>\n\n${pre}\n</details>`;
    length += line.length;
    lines.push(line);
  }
  lines.push("", `Without changes: ${unchanged.join(" ") || "none"}`.slice(0, MOST_CHARACTERS / 6));
  const marker = `<!-- endpoints preview of ${PROJECTS} -->`;
  const body = [marker, ...lines].join("\n");
  const earlier = await findOurs(host.comments, marker);
  if (earlier) await call(host.edit, `${host.comment}/${earlier.id}`, { body });
  else await call("POST", host.comments, { body });
}

function recover() {
  // After the pending creates are cleared, nothing shows what the killed run left. So a drift check looks first, and the stack stays
  // locked until then.
  const code = run([...DRIFT, "--stack", `${PROJECT}/${STACK.split("/").at(-1)}`, "--json", "recovery.json"]);
  if (![0, 7, 8].includes(code)) return code;
  // Without a recovery, nothing is pending. Without its command, something else comes first.
  const { recovery } = JSON.parse(readFileSync("recovery.json", "utf8")).stacks[0];
  const left = (recovery?.adopt ?? []).filter((id) => !(env.ADOPT ?? "").split(",").includes(id));
  if (recovery && !recovery.command) {
    console.log("The report names another step, which comes first. The stack is still locked.");
    return 1;
  }
  if (left.length > 0) {
    console.log(
      `Check that nothing outside of this backend has ${left}. Then recover again, and give these ids to adopt.`,
    );
    return 1;
  }
  const isUnlocked = run(["pulumi", "cancel", ...OF_STACK, "--yes", ...QUIET]) === 0;
  if (!isUnlocked) console.log("There was no lock to remove.");
  const clear = ["--yes", "--skip-preview", "--clear-pending-creates"];
  return run(["pulumi", "refresh", ...OF_STACK, ...clear, ...QUIET]);
}

function drift() {
  const options = env.FAIL_ON_UNMANAGED === "true" ? ["--fail-on-unmanaged"] : [];
  return runInto("drift.txt", false, [...DRIFT, "--html", "drift.html", ...options]);
}

async function issue(code) {
  const remedies = {
    7: "To put them back, run `up` with `repair`.",
    8: "The last run of a stack failed or was killed, or a refresh may have written edits into its state, and the report says which. Run `up`, after a killed run with `recover`, and with what follows endpoints:adopt= in `adopt`.",
  };
  if (code !== "0" && !remedies[code]) {
    console.log(`The check failed with the exit code ${code}, so it neither opens nor closes an issue.`);
    return 1;
  }
  const marker = `<!-- endpoints drift of ${PROJECTS} -->`;
  const open = await findOurs(`${host.issues}?state=${host.open}`, marker);
  const change = (fields) => call(host.edit, `${host.issues}/${open.number ?? open.iid}`, fields);
  if (code === "0") {
    if (open) await change(host.close);
    return;
  }
  const report = readFileSync("drift.txt", "utf8");
  const body = [
    marker,
    // The report begins with its outcome.
    `**${escaped(report.split("\n")[0])}** The whole report is an artifact of [the last run](${host.run}).`,
    "",
    `${remedies[code]} This issue closes by itself when nothing is left to report.`,
    "",
    quoted(report, MOST_CHARACTERS),
  ].join("\n");
  // An edit sends no notification, so lasting drift is reported once.
  if (open) await change({ [host.text]: body });
  else {
    const title = `Endpoints of ${PROJECTS} are not as deployed`;
    await call("POST", host.issues, { title, [host.text]: body });
  }
}

function run([command, ...args], stdio = ["ignore", "inherit", "inherit"]) {
  return spawnSync(command, args, { stdio }).status ?? 1;
}

/** Runs a command and keeps its output. Parts of it come from other people, and must not run commands of GitHub's runner. */
function runInto(file, withErrors, command) {
  const stop = randomUUID();
  if (isOnGitHub) console.log(`::stop-commands::${stop}`);
  const output = openSync(file, "w");
  const code = run(command, ["ignore", output, withErrors ? output : "inherit"]);
  // Control characters could fold or overwrite parts of the log.
  console.log(readFileSync(file, "utf8").replaceAll("\x1b", "").replaceAll("\r", ""));
  if (isOnGitHub) console.log(`::${stop}::`);
  return code;
}

/** The text cannot format, mention people, end its block, or run commands of GitLab with a leading `/`. */
function quoted(text, length) {
  return `<pre>\n${escaped(text).slice(0, length)}\n</pre>`;
}

function escaped(text) {
  const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "/": "&#47;", "@": "&#64;" };
  return text.replace(/[&<>/@]/g, (sign) => entities[sign]);
}

function gitHub() {
  const api = `${env.GITHUB_API_URL}/repos/${env.GITHUB_REPOSITORY}`;
  return {
    run: `${env.GITHUB_SERVER_URL}/${env.GITHUB_REPOSITORY}/actions/runs/${env.GITHUB_RUN_ID}`,
    commit: env.COMMIT,
    headers: { Authorization: `Bearer ${env.GITHUB_TOKEN}` },
    user: () => "github-actions[bot]",
    comments: `${api}/issues/${env.PULL_REQUEST}/comments`,
    comment: `${api}/issues/comments`,
    issues: `${api}/issues`,
    open: "open",
    edit: "PATCH",
    close: { state: "closed" },
    text: "body",
  };
}

function gitLab() {
  const api = `${env.CI_API_V4_URL}/projects/${env.CI_PROJECT_ID}`;
  const comments = `${api}/merge_requests/${env.CI_MERGE_REQUEST_IID}/notes`;
  return {
    run: env.CI_JOB_URL,
    commit: env.CI_COMMIT_SHA,
    headers: { "PRIVATE-TOKEN": env.GITLAB_TOKEN },
    user: async () => (await call("GET", `${env.CI_API_V4_URL}/user`)).username,
    comments,
    comment: comments,
    issues: `${api}/issues`,
    open: "opened",
    edit: "PUT",
    close: { state_event: "close" },
    text: "description",
  };
}

/** The comment or issue on any page that the token's user began with this marker. Anybody can write the marker. */
async function findOurs(url, marker) {
  const me = await host.user();
  const isOurs = ({ user, author, body, description }) =>
    (user?.login ?? author?.username) === me && (body ?? description)?.startsWith(marker);
  for (let page = 1; ; page++) {
    const items = await call("GET", `${url}${url.includes("?") ? "&" : "?"}per_page=100&page=${page}`);
    const found = items.find(isOurs);
    if (found || items.length === 0) return found;
  }
}

async function call(method, url, fields) {
  const response = await fetch(url, {
    method,
    headers: { ...host.headers, "Content-Type": "application/json" },
    ...(fields && { body: JSON.stringify(fields) }),
  });
  if (!response.ok) throw new Error(`${method} ${url} was answered with ${response.status}`);
  return response.json();
}
