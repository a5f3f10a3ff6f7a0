import { ApiError } from "../../../provider/api/errors";
import { StackError } from "../stacks";
import type { Unseen } from "./report";

/** The Pulumi CLI's own number where its backend does not let it in. */
const CLI_AUTHENTICATION = 3;

/** The provider's own words for a refused key, the only thing of its error that comes through Pulumi. */
const REFUSED = /: status 40[13]\b/;

/** What could not be seen, from an error or from what a run said of it. */
export function unseen(what: string, reason: unknown): Unseen {
  const text = reason instanceof Error ? reason.message : String(reason);
  return { what, reason: text, authentication: isRefusal(reason, text) };
}

function isRefusal(reason: unknown, text: string): boolean {
  if (reason instanceof ApiError) return reason.status === 401 || reason.status === 403;
  if (reason instanceof StackError && reason.exitCode === CLI_AUTHENTICATION) return true;
  return REFUSED.test(text);
}
