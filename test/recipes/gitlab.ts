import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { z } from "zod";

/** The part of GitLab's API that the recipe uses: notes of merge request 7 and issues of project 1, two on a page. */
export interface GitLab {
  apiUrl: string;
  token: string;
  notes: { id: number; author: { id: number }; body: string }[];
  issues: {
    iid: number;
    author: { id: number };
    state: string;
    title: string;
    labels: string;
    description: string;
  }[];
  /** The requests that write, such as `POST issues`. */
  writes: string[];
}

/** The user of the token. */
const BOT = { id: 77, username: "project_1_bot" };

const sent = z.object({
  body: z.string().default(""),
  title: z.string().default(""),
  labels: z.string().default(""),
  description: z.string().optional(),
  state_event: z.literal("close").optional(),
});

export async function startGitLab({
  notes = [],
  issues = [],
}: Partial<Pick<GitLab, "notes" | "issues">> = {}): Promise<GitLab> {
  const gitlab: GitLab = { apiUrl: "", token: "glpat-canary", notes, issues, writes: [] };
  const server = createServer(async (request, response) => {
    const { status, body, nextPage = "" } = await answer(gitlab, request);
    response.writeHead(status, { "Content-Type": "application/json", "X-Next-Page": nextPage });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  gitlab.apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v4`;
  return gitlab;
}

interface Answer {
  status: number;
  body?: unknown;
  nextPage?: string;
}

async function answer(gitlab: GitLab, request: IncomingMessage): Promise<Answer> {
  if (request.headers["private-token"] !== gitlab.token) return { status: 401 };
  const url = new URL(request.url ?? "", "http://gitlab");
  if (url.pathname === "/api/v4/user") return { status: 200, body: BOT };
  const [, collection, id] =
    /^\/api\/v4\/projects\/1\/(merge_requests\/7\/notes|issues)(?:\/(\d+))?$/.exec(url.pathname) ?? [];
  if (!collection) return { status: 404 };
  if (request.method === "GET")
    return collection === "issues" ? page(openIssues(gitlab, url), url) : page(gitlab.notes, url);

  const given = sent.parse(JSON.parse(Buffer.concat(await request.toArray()).toString()));
  gitlab.writes.push(`${request.method} ${collection}`);
  if (collection === "issues") return { status: 200, body: writeIssue(gitlab, Number(id), given) };
  const note = gitlab.notes.find((one) => one.id === Number(id));
  if (note) note.body = given.body;
  else gitlab.notes.push({ id: gitlab.notes.length + 1, author: BOT, body: given.body });
  return { status: 200, body: {} };
}

function openIssues(gitlab: GitLab, url: URL): GitLab["issues"] {
  const { state, labels } = Object.fromEntries(url.searchParams);
  return gitlab.issues.filter((issue) => issue.state === state && issue.labels === labels);
}

function writeIssue(gitlab: GitLab, iid: number, given: z.infer<typeof sent>): unknown {
  const issue = gitlab.issues.find((one) => one.iid === iid);
  if (!issue) {
    const { title, labels, description = "" } = given;
    const iid = gitlab.issues.length + 1;
    gitlab.issues.push({ iid, author: BOT, state: "opened", title, labels, description });
    return {};
  }
  if (given.description !== undefined) issue.description = given.description;
  if (given.state_event) issue.state = "closed";
  return {};
}

function page(all: unknown[], url: URL): Answer {
  const number = Number(url.searchParams.get("page"));
  const body = all.slice((number - 1) * 2, number * 2);
  return { status: 200, body, nextPage: all.length > number * 2 ? `${number + 1}` : "" };
}
