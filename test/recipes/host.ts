import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { z } from "zod";
import { listening } from "../provider/servers";
import type { Machine } from "./machine";

/** The token of a job. */
export const TOKEN = "canary-token";

/** An existing comment or issue. */
export interface Listed {
  id: number;
  isBot: boolean;
  body: string | null;
}

/**
 * Starts a stand-in for the APIs of GitHub and GitLab: it lists these comments or issues, two on a page, records each writing request
 * as a call of the machine, and keeps the written text. Returns its address.
 */
export async function standInForHost(machine: Machine, listed: Listed[] = []): Promise<string> {
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://host");
    const path = pathname.replace(/^\/(projects\/1|repos\/acme\/shop)/, "");
    const isGitHub = pathname.startsWith("/repos/");
    const send = (status: number, body: unknown) => {
      response.writeHead(status, { "Content-Type": "application/json" });
      response.end(JSON.stringify(body));
    };
    const { authorization, "private-token": token = authorization?.replace("Bearer ", "") } = request.headers;
    if (token !== TOKEN) return send(401, {});
    if (path === "/user") return send(200, { username: "bot" });
    if (request.method !== "GET") {
      const sent = z
        .record(z.string(), z.string())
        .parse(JSON.parse(`${Buffer.concat(await request.toArray())}`));
      const { description, body = description, ...rest } = sent;
      machine.note([request.method, path, ...Object.values(rest)].join(" "));
      if (body !== undefined) writeFileSync(join(machine.scratch, "written"), body);
      return send(200, {});
    }
    if (path === "/issues" && searchParams.get("state") !== (isGitHub ? "open" : "opened"))
      return send(400, {});
    const page = Number(searchParams.get("page"));
    const text = path === "/issues" ? "description" : "body";
    const items = listed.map(({ id, isBot, body }) =>
      isGitHub
        ? { id, number: id, body, user: { login: isBot ? "github-actions[bot]" : "somebody" } }
        : { id, iid: id, [text]: body, author: { username: isBot ? "bot" : "somebody" } },
    );
    send(200, items.slice((page - 1) * 2, page * 2));
  });
  return `http://${await listening(server)}`;
}
