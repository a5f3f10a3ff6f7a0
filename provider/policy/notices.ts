import { isMapping, type JsonObject } from "../api/json";
import { type Path, pathText, UNKNOWN } from "../document";
import { LONGEST } from "../parse";
import { sourceDocuments } from "./positions";
import { policyWarnings, warningText } from "./warnings";

/* The warnings of a resource's policy, as lines for its log. */

/** The most warnings of one resource. */
const MOST = 10;

const MORE =
  "there are more warnings for trafficPolicy; `npx pulumi-endpoints check-policy` lists those of a file";

/**
 * What is probably wrong with the policy of a cloud endpoint. Gives nothing for a policy that is not
 * known yet, and for a value that is no policy, which the check of the inputs reports.
 *
 * @param inputs The inputs of the endpoint, as the program gives them, with unknown values in place of secrets.
 */
export function policyNotices({ trafficPolicy, url, bindings }: JsonObject): string[] {
  const isText = typeof trafficPolicy === "string";
  if (trafficPolicy === undefined || trafficPolicy === UNKNOWN) return [];
  if (isText && trafficPolicy.length > LONGEST) return [];
  const source = isText ? sourceDocuments(trafficPolicy, 1) : { documents: [{ data: trafficPolicy }] };
  const [document] = "documents" in source ? source.documents : [];
  const warnings = policyWarnings(document?.data, { url, bindings, isCloud: true });
  if (warnings.length === 0) return [];

  const shown = warnings.slice(0, MOST);
  const positions =
    document && "positionsOf" in document ? document.positionsOf(shown.map(({ path }) => path)) : [];
  const lines = shown.map(({ path, reason }, index) => {
    const line = path.length > 0 ? positions[index]?.line : undefined;
    const more = line === undefined ? "" : ` (line ${line})`;
    return warningText({ path: ["trafficPolicy", ...path], reason }, "", more);
  });
  return warnings.length > MOST ? [...lines, MORE] : lines;
}

/** The inputs with unknown values at these places, written as Pulumi writes paths. */
export function withoutSecrets(inputs: JsonObject, places: readonly string[]): JsonObject {
  if (places.length === 0) return inputs;
  const secret = new Set(places);
  const masked = (value: unknown, path: Path): unknown => {
    if (path.length > 0 && secret.has(pathText(path))) return UNKNOWN;
    if (Array.isArray(value)) return value.map((item, index) => masked(item, [...path, index]));
    if (!isMapping(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => [key, masked(part, [...path, key])]),
    );
  };
  return masked(inputs, []) as JsonObject;
}
