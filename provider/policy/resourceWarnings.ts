import { isMapping, type JsonObject } from "../api/json";
import { LONGEST, type Path, UNKNOWN } from "../endpoint/documents";
import { expressionWarnings } from "./expressions";
import { type Position, type SourceDocument, sourceDocuments } from "./positions";
import { type PolicyTarget, type PolicyWarning, policyWarnings, warningText } from "./warnings";

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

interface Options {
  /** The policy with its secrets. What the inputs do not show is only checked for its expressions, and never named. */
  revealed?: unknown;
  /** Whether an expression has been checked elsewhere. */
  isChecked?: (expression: string) => boolean;
  /** Whether it is the argument `policy` of a merge, to which another part may bring the action that answers. */
  isPart?: boolean;
}

/**
 * The warnings for the policy of a cloud endpoint. None if the policy is not known yet.
 *
 * @param inputs The endpoint's inputs in the program, with unknown values in place of secrets.
 */
export function resourceWarnings(
  { trafficPolicy, url, bindings }: JsonObject,
  readPolicy: PolicyReader = policyReader(),
  { revealed, isChecked, isPart = false }: Options = {},
): string[] {
  if (trafficPolicy === undefined) return [];
  const source = trafficPolicy === UNKNOWN ? undefined : readPolicy(trafficPolicy);
  const target = { url, bindings, isCloud: !isPart, ...(isChecked && { isChecked }) };
  const warnings = policyWarnings(source?.data, target, MOST_SHOWN + 1);
  const hidden =
    revealed === undefined ? [] : hiddenWarnings(readPolicy(revealed)?.data, source?.data, target);
  const shown = warnings.slice(0, MOST_SHOWN);
  const positions = shown.length > 0 ? source?.positionsOf?.(...placesOf(shown)) : undefined;
  const parent = [isPart ? "policy" : "trafficPolicy"];
  const lines = [
    ...shown.map((warning, index) => lineOf(warning, parent, positions?.[index])),
    ...hidden.slice(0, MOST_SHOWN - shown.length).map((warning) => lineOf(warning, parent)),
  ];
  return warnings.length + hidden.length > MOST_SHOWN ? [...lines, MORE] : lines;
}

/** The warnings for the expressions of a rule. If they are secret, nothing in them is named. */
export function ruleWarnings(rule: unknown, { isSecret }: { isSecret: boolean }): string[] {
  const warnings = [...expressionWarnings(rule, [])].slice(0, MOST_SHOWN);
  return warnings.map((warning) => lineOf(isSecret ? withoutNames(warning) : warning, []));
}

/** The paths and offsets of warnings, to find their positions. */
export const placesOf = (warnings: readonly PolicyWarning[]) =>
  [warnings.map(({ path }) => path), warnings.map(({ offset }) => offset)] as const;

function lineOf({ path, offset, reason }: PolicyWarning, parent: Path, position?: Position): string {
  const inLine = offset === undefined ? "" : `, column ${position?.column}`;
  const place = position && path.length > 0 ? `line ${position.line}${inLine}` : "";
  const more = place || (offset === undefined ? "" : `character ${offset + 1}`);
  return warningText({ path: [...parent, ...path], reason }, "", more && ` (${more})`);
}

/** The warnings for the expressions that are not shown; if nothing is shown, also those for the whole policy. */
function hiddenWarnings(data: unknown, shown: unknown, target: PolicyTarget): PolicyWarning[] {
  return policyWarnings(data, target, Number.POSITIVE_INFINITY).flatMap((warning) => {
    if (warning.path.length === 0) return shown === undefined ? [warning] : [];
    if (warning.secretReason === undefined || partAt(shown, warning.path) === partAt(data, warning.path))
      return [];
    return [withoutNames(warning)];
  });
}

const partAt = (data: unknown, path: Path) =>
  path.reduce<unknown>(
    (part, key) => (isMapping(part) || Array.isArray(part) ? Reflect.get(part, key) : undefined),
    data,
  );

/** The place without names that the program chose: up to the expression or action. */
const withoutNames = ({ path, reason, secretReason = reason, ...rest }: PolicyWarning): PolicyWarning => ({
  ...rest,
  path: path.slice(0, path.findIndex((part) => part === "expressions" || part === "actions") + 2),
  reason: secretReason,
});
