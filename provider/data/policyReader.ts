import { MAX_LENGTH } from "./parse";
import { type SourceDocument, sourceDocuments } from "./positions";

/** A policy as data. If it was text, it has the positions of its parts. */
type PolicySource = { data: unknown } & Partial<Pick<SourceDocument, "positionOf">>;

/** Returns undefined for text that is no policy. The check of the inputs reports that. */
export type PolicyReader = (policy: unknown) => PolicySource | undefined;

/** Reads the policy of one resource for all its checks, so that its text is parsed once. */
export function policyReader(): PolicyReader {
  let last: { text: string; source: PolicySource | undefined } | undefined;
  return (policy) => {
    if (typeof policy !== "string") return { data: policy };
    if (last?.text !== policy) last = { text: policy, source: policySource(policy) };
    return last.source;
  };
}

function policySource(text: string): PolicySource | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const source = sourceDocuments(text);
  const [document, second] = "documents" in source ? source.documents : [];
  return second ? undefined : document;
}
