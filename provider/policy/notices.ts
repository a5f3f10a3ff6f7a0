import { isMapping, type JsonObject } from "../api/json";
import { type Path, pathText, UNKNOWN } from "../document";
import { LONGEST } from "../parse";
import { sourceDocuments } from "./positions";
import { policyWarnings, warningText } from "./warnings";

/* The warnings of a resource's policy, as lines for its log. */

/** As many as one resource shows. */
const MOST = 10;

const MORE =
  "trafficPolicy has more that looks wrong; `npx pulumi-endpoints check-policy` lists all of a policy that is kept as a file";

/**
 * What is probably wrong with the policy of a cloud endpoint. A policy that is unknown or no policy gives nothing: it is
 * checked once it is known, and the check of the inputs fails with what is no policy.
 *
 * @param inputs The inputs of the endpoint, as they were given; secrets are to be left out as unknown.
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

/** The inputs with what is secret as unknown: at these places, as Pulumi writes paths. */
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
