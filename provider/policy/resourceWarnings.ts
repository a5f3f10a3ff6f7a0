import { isMapping, type JsonObject } from "../api/json";
import { LONGEST, UNKNOWN } from "../endpoint/documents";
import { type SourceDocument, sourceDocuments } from "./positions";
import { policyWarnings, warningText } from "./warnings";

/* The warnings of a resource's policy, as lines for its log. */

/** The most warnings of one resource. */
const MOST_SHOWN = 10;

const MORE =
  "there are more warnings for trafficPolicy; `npx pulumi-endpoints check-policy` lists those of a file";

/** A policy as data. If it was text, it has the positions of its parts. */
export type PolicySource = Pick<SourceDocument, "data"> & Partial<SourceDocument>;

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
  if (text.length > LONGEST) return undefined;
  const source = sourceDocuments(text, 1);
  const [document] = "documents" in source ? source.documents : [];
  return document && isMapping(document.data) ? document : undefined;
}

/**
 * The warnings for the policy of a cloud endpoint. None if the policy is not known yet.
 *
 * @param inputs The endpoint's inputs in the program, with unknown values in place of secrets.
 * @param isSecret Whether the whole policy is secret. Then no warning names a place in it.
 * @param isPart Whether it is the argument `policy` of a merge, to which another part may bring the action that answers.
 */
export function resourceWarnings(
  { trafficPolicy, url, bindings }: JsonObject,
  readPolicy: PolicyReader = policyReader(),
  { isSecret = false, isPart = false } = {},
): string[] {
  if (trafficPolicy === undefined || trafficPolicy === UNKNOWN) return [];
  const source = readPolicy(trafficPolicy);
  const target = { url, bindings, isCloud: !isPart };
  const root = isPart ? "policy" : "trafficPolicy";
  const most = isSecret ? Number.POSITIVE_INFINITY : MOST_SHOWN + 1;
  const warnings = policyWarnings(source?.data, target, most).filter(
    ({ path }) => !isSecret || path.length === 0,
  );
  if (warnings.length === 0) return [];

  const shown = warnings.slice(0, MOST_SHOWN);
  const positions = source?.positionsOf?.(shown.map(({ path }) => path)) ?? [];
  const lines = shown.map(({ path, reason }, index) => {
    const line = path.length > 0 ? positions[index]?.line : undefined;
    const more = line === undefined ? "" : ` (line ${line})`;
    return warningText({ path: [root, ...path], reason }, "", more);
  });
  return warnings.length > MOST_SHOWN ? [...lines, MORE] : lines;
}
