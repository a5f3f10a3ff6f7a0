import { createServer } from "node:http";
import { onTestFinished } from "vitest";
import { listen } from "../../sdk/testing/listen";

/** Stands in for GitLab's API. It lists these notes or issues, two on a page, and notes each request that writes. */
export interface GitLab {
  /** The requests that write, as `POST /issues`, with their bodies. */
  writes: [request: string, body: Record<string, string>][];
  env: Record<string, string>;
}

/** The user of the token. */
export const BOT = { id: 77 };
const TOKEN = "glpat-canary";

export async function standInForGitLab(listed: object[] = []): Promise<GitLab> {
  const writes: GitLab["writes"] = [];
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://gitlab");
    const path = pathname.replace("/api/v4", "").replace("/projects/1", "");
    const send = (status: number, body: unknown, nextPage = "") => {
      response.writeHead(status, { "Content-Type": "application/json", "X-Next-Page": nextPage });
      response.end(JSON.stringify(body));
    };
    if (request.headers["private-token"] !== TOKEN) return send(401, {});
    if (path === "/user") return send(200, BOT);
    if (request.method !== "GET") {
      writes.push([`${request.method} ${path}`, JSON.parse(`${Buffer.concat(await request.toArray())}`)]);
      return send(200, {});
    }
    const filter = `${searchParams.get("state")} ${searchParams.get("labels")}`;
    if (path === "/issues" && filter !== "opened endpoints-drift") return send(400, {});
    const page = Number(searchParams.get("page"));
    send(200, listed.slice((page - 1) * 2, page * 2), listed.length > page * 2 ? `${page + 1}` : "");
  });
  const port = await listen(server, 0);
  onTestFinished(() => void server.close());
  const env = {
    CI: "true",
    CI_API_V4_URL: `http://127.0.0.1:${port}/api/v4`,
    CI_PROJECT_ID: "1",
    CI_MERGE_REQUEST_IID: "7",
    CI_COMMIT_SHA: "abc",
    CI_JOB_URL: "https://gitlab.example.com/acme/shop/-/jobs/42",
    GITLAB_TOKEN: TOKEN,
    PROJECTS: "stacks.yaml",
  };
  return { writes, env };
}
