import type { RecordedRequest } from "../types";

/**
 * What to do with a request instead of answering it: give an answer, or drop the connection without one.
 * `delayMs` waits first, in milliseconds. Default: no wait.
 */
export type ScriptedReply = { delayMs?: number } & (
  | {
      status: number;
      headers?: Record<string, string>;
      /** Text is sent as it is, an object as JSON with its content type. Default: an empty body. */
      body?: string | object;
    }
  | { reset: true }
);

interface Script {
  match: (request: RecordedRequest) => boolean;
  reply: ScriptedReply;
  left: number;
}

/** Scripts in the order in which they were added: the first that matches and is not used up takes the request. */
export class Scripts {
  private scripts: Script[] = [];

  add(match: Script["match"], reply: ScriptedReply, times: number): void {
    this.scripts.push({ match, reply, left: times });
  }

  take(request: RecordedRequest): ScriptedReply | undefined {
    const script = this.scripts.find(({ match, left }) => left > 0 && match(request));
    if (!script) return undefined;
    script.left -= 1;
    this.scripts = this.scripts.filter(({ left }) => left > 0);
    return script.reply;
  }
}
