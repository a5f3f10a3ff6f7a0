import { isRefusal } from "../account";
import type { Unseen } from "./report";

/** The provider's own words for a refused key, the only thing of its error that comes through Pulumi. */
const REFUSED = /: status 40[13]\b/;

/** What could not be seen, from an error or from what a run said of it. */
export function unseen(what: string, reason: unknown): Unseen {
  const text = reason instanceof Error ? reason.message : String(reason);
  return { what, reason: text, authentication: isRefusal(reason) || REFUSED.test(text) };
}
