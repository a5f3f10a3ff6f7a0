import { createContext, runInContext } from "node:vm";
import { refuse } from "./trace";

/** The longest time that the expressions and patterns of one request take in all, in milliseconds. */
const MOST_MS = 1_000;

/** The time that is left for a request. A policy can need days, with nested macros or with a pattern that RE2 matches at once. */
export class TimeLimit {
  private readonly context: { work: () => unknown } = { work: () => undefined };

  constructor(private left = MOST_MS) {
    createContext(this.context);
  }

  /**
   * Runs synchronous work.
   *
   * @throws RequestNotSimulated if the time is used up.
   */
  spend<T>(work: () => T): T {
    const start = performance.now();
    let result: { value: T } | undefined;
    this.context.work = () => {
      result = { value: work() };
    };
    try {
      // The limit of node:vm also ends what the script calls, even within a macro or a pattern.
      if (this.left >= 1) runInContext("work()", this.context, { timeout: Math.floor(this.left) });
    } catch (error) {
      const code = typeof error === "object" && error && "code" in error && error.code;
      if (code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      result = undefined;
    }
    this.left -= performance.now() - start;
    if (result) return result.value;
    return refuse(`a request whose expressions and patterns take over ${MOST_MS} ms here`);
  }
}
