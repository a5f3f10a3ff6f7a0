import { createContext, runInContext } from "node:vm";
import { notSimulated } from "./trace";

/** The longest time for all expressions of a request, in milliseconds. */
const MAX_MS = 1_000;

/** The time that is left for a request. Nested macros could run for days. */
export class TimeLimit {
  private readonly context = createContext();

  constructor(private left = MAX_MS) {}

  /**
   * Runs synchronous work within the time that is left.
   *
   * @throws RequestNotSimulated if the time is used up.
   */
  spend<T>(work: () => T): T {
    const start = performance.now();
    this.context["work"] = work;
    try {
      // The limit of node:vm also stops what the script calls, even inside a macro.
      if (this.left >= 1) return runInContext("work()", this.context, { timeout: Math.floor(this.left) });
    } catch (error) {
      const code = typeof error === "object" && error && "code" in error && error.code;
      if (code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    } finally {
      this.left -= performance.now() - start;
    }
    return notSimulated(`a request whose expressions take over ${MAX_MS} ms here`);
  }
}
