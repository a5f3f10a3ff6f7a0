import {
  derivedFromUrl,
  didYouMean,
  isMapping,
  type JsonObject,
  missingValuesIn,
  numberedPhases,
  type Path,
  type PolicyReader,
  pathText,
  policyReader,
  type SourceDocument,
} from "../provider/data/index";
import { UNKNOWN } from "../provider/pulumi/sentinels";
import { Binding } from "../provider/service/contract";
import {
  expressionWarnings,
  type PolicyWarning,
  policyWarnings,
  warningText,
} from "./traffic-policy/policy/index";

/*
 * The warnings of a resource's inputs and of its policy, as lines for its log. The class gives them in Node.js programs, the plugin
 * in others.
 */

/** The most warnings of one resource. */
const MAX_SHOWN = 10;

const MORE =
  "there are more warnings for trafficPolicy; `npx pulumi-endpoints check-policy` lists those of a file";

export const knownBindings: readonly string[] = Object.values(Binding);

/** The inputs with warnings of their own. */
export type WarnedInput = "url" | "bindings" | "trafficPolicy" | "adopt" | "description" | "metadata";

/**
 * The warnings of an endpoint's inputs. They never block, because the service may have changed, and never quote a value.
 *
 * @param isNew Whether the endpoint may have to be created.
 */
export function inputWarnings(
  inputs: { [Name in WarnedInput]?: unknown },
  { isPublicService, isNew }: { isPublicService: boolean; isNew: boolean },
): string[] {
  const bindings = Array.isArray(inputs.bindings) ? inputs.bindings : [];
  const misspelt = bindings.flatMap((name: unknown) => {
    const isChecked = typeof name === "string" && name !== UNKNOWN && !knownBindings.includes(name);
    const hint = isChecked && didYouMean(name, knownBindings);
    return hint ? [`bindings has a name that the public service does not know${hint}`] : [];
  });
  const isInternal = /\.internal$/.test(derivedFromUrl(String(inputs.url))?.publicUrl ?? "");
  const exposed =
    isInternal && bindings.includes("public")
      ? [
          "bindings contains public, but an endpoint whose host ends with .internal is never public; write internal, or leave bindings out",
        ]
      : [];
  const lacksPolicy = isNew && !inputs.adopt && inputs.trafficPolicy === undefined;
  const service = isPublicService ? "the public service refuses" : "the service may refuse";
  const policy = `trafficPolicy is missing, and ${service} to create a cloud endpoint without one; give one with an action that answers, such as forward-internal, custom-response or deny`;
  const { url, description, metadata } = inputs;
  const missing = [...missingValuesIn({ url, description, metadata })].map(
    ({ path, reason }) => `${pathText(path)} ${reason}`,
  );
  return [...misspelt, ...exposed, ...missing, ...(lacksPolicy ? [policy] : [])];
}

/**
 * The warnings for the policy of a cloud endpoint. None if the policy is not known yet.
 *
 * @param inputs The endpoint's inputs in the program, with unknown values in place of secrets.
 * @param options Whether it is the argument `policy` of a merge, to which another part may bring the action that answers.
 */
export function resourceWarnings(
  { trafficPolicy, url, bindings }: JsonObject,
  readPolicy: PolicyReader = policyReader(),
  { isPart = false } = {},
): string[] {
  if (trafficPolicy === undefined) return [];
  const source = readPolicy(trafficPolicy);
  // The check refuses it. Each number would be an unknown phase.
  if (isMapping(source?.data) && numberedPhases(source.data) !== undefined) return [];
  const warnings = policyWarnings(
    source?.data,
    { url, bindings, isCloud: !isPart, isUnknown },
    MAX_SHOWN + 1,
  );
  const parent = [isPart ? "policy" : "trafficPolicy"];
  const lines = warnings.slice(0, MAX_SHOWN).map((one) => lineOf(one, parent, source?.positionOf));
  return warnings.length > MAX_SHOWN ? [...lines, MORE] : lines;
}

/** Logs the warnings of a policy. In the mode `error` it returns them instead, and the caller fails with them. */
export function logOrReturnWarnings(
  mode: "on" | "error" | "off",
  find: () => string[],
  warn: (warning: string) => void,
): string[] {
  const warnings = mode === "off" ? [] : find();
  if (mode === "error") return warnings;
  for (const warning of warnings) warn(warning);
  return [];
}

/** The warnings for the expressions of a rule. */
export const ruleWarnings = (expressions: unknown): string[] =>
  expressionWarnings(expressions, isUnknown, MAX_SHOWN).map((warning) => lineOf(warning, []));

/** Whether a text has an unknown part. */
const isUnknown = (value: unknown) => typeof value === "string" && value.includes(UNKNOWN);

function lineOf(
  { path, offset, reason }: PolicyWarning,
  parent: Path,
  positionOf?: SourceDocument["positionOf"],
): string {
  const position = path.length > 0 ? positionOf?.(path, offset) : undefined;
  const inLine = offset === undefined ? "" : `, column ${position?.column}`;
  const inText = offset === undefined ? "" : ` (character ${offset + 1})`;
  const more = position ? ` (line ${position.line}${inLine})` : inText;
  return warningText({ path: [...parent, ...path], reason }, "", more);
}
