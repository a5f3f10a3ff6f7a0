import { readFileSync } from "node:fs";
import { UserError } from "../../provider/api/apiErrors";
import { isMapping } from "../../provider/api/json";
import { type Path, pathText, UNKNOWN } from "../../provider/endpoint/documents";
import { legacyPhases, phases } from "../../provider/policy/catalogue";
import { type Position, sourceDocuments } from "../../provider/policy/positions";
import { type PolicyTarget, policyWarnings, warningText } from "../../provider/policy/warnings";

/* Traffic policies in files: alone, in an agent's configuration, in Kubernetes manifests, in a Pulumi.yaml. */

/** A warning with its position. */
export interface FileWarning extends Position {
  /** In the file's data: `endpoints[0].traffic_policy.on_http_request[0]`. */
  path: string;
  message: string;
}

export interface CheckedFile {
  file: string;
  /** The number of policies in the file. */
  policies: number;
  warnings: FileWarning[];
}

/** A file that cannot be read, or that is neither YAML nor JSON. */
export class UnreadableFile extends UserError {}

/**
 * Checks every policy of a file.
 *
 * @param target The endpoint of the policies. Default: the endpoint that the file names for each.
 * @throws UnreadableFile
 */
export function checkFile(file: string, target: PolicyTarget | undefined): CheckedFile {
  const source = sourceDocuments(textOf(file));
  if ("problem" in source) throw new UnreadableFile(`${file} ${source.problem.reason}`);
  const checked: CheckedFile = { file, policies: 0, warnings: [] };
  for (const { data, positionsOf } of source.documents) {
    const found = policiesIn(data).flatMap(({ policy, path, target: own }) => {
      checked.policies++;
      return policyWarnings(policy, target ?? own).map((warning) => ({
        ...warning,
        path: [...path, ...warning.path],
      }));
    });
    const positions = found.length > 0 ? positionsOf(found.map(({ path }) => path)) : [];
    for (const [index, { path, reason }] of found.entries()) {
      const message = warningText({ path, reason }, "the policy");
      checked.warnings.push({
        path: pathText(path),
        message,
        ...(positions[index] ?? { line: 1, column: 1 }),
      });
    }
  }
  return checked;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8").replace(/^\ufeff/, "");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    throw new UnreadableFile(`${file} cannot be read (${code})`, { cause: error });
  }
}

interface Found {
  policy: object;
  path: Path;
  target: PolicyTarget;
}

/** The keys of policies in other documents. */
const HOLDERS = ["traffic_policy", "trafficPolicy", "policy", "inline"];

/** The keys of documents that are no policies themselves. */
const OTHERS = [...HOLDERS, "apiVersion", "version", "resources", "runtime", "endpoints", "tunnels"];

/** The policies in a document. A document of no other known kind is a policy itself. */
function policiesIn(data: unknown): Found[] {
  const found = search(data, [], {});
  const isOther = !isMapping(data) || OTHERS.some((key) => key in data) || Object.keys(data).length === 0;
  return found.length > 0 || isOther ? found : [{ policy: data, path: [], target: {} }];
}

function search(value: unknown, path: Path, target: PolicyTarget): Found[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => search(item, [...path, index], target));
  if (!isMapping(value)) return [];
  if (isPolicy(value, HOLDERS.includes(String(path.at(-1))))) return [{ policy: value, path, target }];
  const { url, bindings, kind, type } = value;
  const isCloud = kind === "CloudEndpoint" || /^endpoints:(index:)?CloudEndpoint$/.test(String(type));
  const inner: PolicyTarget = {
    ...target,
    ...(isCloud && { isCloud }),
    // A template's URL is not known here.
    ...(typeof url === "string" && { url: url.includes("${") ? UNKNOWN : url }),
    ...(bindings !== undefined && { bindings }),
  };
  return Object.entries(value).flatMap(([key, part]) => search(part, [...path, key], inner));
}

/** @param isExpected Whether a policy belongs there: then even one with only misspelt phases counts. */
function isPolicy(value: object, isExpected: boolean): boolean {
  return Object.keys(value).some(
    (key) =>
      Object.hasOwn(phases, key) ||
      (isExpected && (key.startsWith("on_") || Object.hasOwn(legacyPhases, key))),
  );
}
