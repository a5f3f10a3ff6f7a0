import { isMapping, type JsonObject } from "../../../provider/data/json";
import { missingValuesIn } from "../../../provider/data/missingValues";
import { NO_MAPPING, policyFromText, SEVERAL_DOCUMENTS, type Unparsed } from "../../../provider/data/parse";
import { type Path, pathText } from "../../../provider/data/paths";
import { type SourceDocument, sourceDocuments } from "../../../provider/data/positions";
import { phases } from "./catalogue";
import {
  intendedPhase,
  type PolicyTarget,
  type PolicyWarning,
  policyWarnings,
  warningText,
  withUnknown,
} from "./warnings";

/* Finds the policies in files: a policy alone, or in a configuration of an agent, Kubernetes, Terraform or Pulumi. */

/** A probable mistake in a policy. */
export interface Warning {
  /** Its place in the data: `endpoints[0].traffic_policy.on_http_request[0]`. Empty for the whole policy. */
  path: string;
  /** The place and the mistake, as a sentence. It quotes no value, but names of phases, keys, actions and variables. */
  message: string;
  /** The line in the text, counted from 1. Missing if the policy was no text. */
  line?: number;
  column?: number;
}

/** A policy in a file. Without `policy`, it was not read. */
export interface FilePolicy {
  policy?: object;
  /** The file that has the policy, as an agent's configuration names it. */
  policyFile?: string;
  /** Its place in the file; empty if the whole file is a policy. */
  path: Path;
  /** The endpoint that the file names. */
  target: PolicyTarget;
  positionOf?: SourceDocument["positionOf"];
}

/**
 * The warnings for one policy. A secret in which a value is missing is one of them: a pipeline may fill it in later.
 *
 * @param endpoint Default: the one that the file names.
 */
export function warningsOfOne(one: FilePolicy, endpoint: PolicyTarget | undefined): Warning[] {
  const reason = "has a policy that was not read; check it as a file of its own";
  const unread: PolicyWarning[] = [{ path: [], reason }];
  const secrets: PolicyWarning[] = [...missingValuesIn(one.policy)].filter(({ isSecret }) => isSecret);
  const warnings = one.policy ? [...policyWarnings(one.policy, endpoint ?? one.target), ...secrets] : unread;
  return warnings.map(({ path: inPolicy, offset, reason }) => {
    const path = [...one.path, ...inPolicy];
    const message = warningText({ path, reason }, "the policy");
    return { path: pathText(path), message, ...one.positionOf?.(path, offset) };
  });
}

/** The policies in a text. */
export function policiesInText(text: string): { policies: FilePolicy[] } | Unparsed {
  const source = sourceDocuments(text);
  if ("problem" in source) return source;
  const found = readablePolicies(
    source.documents.flatMap(({ data, positionOf }) =>
      policiesIn(data).map((one) => ("problem" in one ? one : { ...one, positionOf })),
    ),
  );
  if ("problem" in found) return found;
  const { policies } = found;
  // If a document as a whole is a policy, the text must have no other document.
  const isOne = source.documents.length === 1 || policies.every(({ path }) => path.length > 0);
  return isOne ? { policies } : { problem: SEVERAL_DOCUMENTS };
}

/** A value in the place of a policy that is not a policy. */
interface Misplaced {
  path: Path;
  problem: string;
}

/** The policies, unless one of them cannot be read. */
function readablePolicies(found: (FilePolicy | Misplaced)[]): { policies: FilePolicy[] } | Unparsed {
  const policies: FilePolicy[] = [];
  for (const one of found) {
    if ("problem" in one) return { problem: `has a policy at ${pathText(one.path)} that ${one.problem}` };
    policies.push(one);
  }
  return { policies };
}

/** Keys under which files may have a policy. */
const POLICY_KEYS = ["traffic_policy", "trafficPolicy", "policy", "inline"];

/** Keys under which there can only be a policy. */
const SURE_POLICY_KEYS = ["traffic_policy", "trafficPolicy"];

/** The policies in a document. The whole document may be a policy. */
function policiesIn(written: JsonObject): (FilePolicy | Misplaced)[] {
  const data = "runtime" in written ? withoutTemplates(written) : written;
  const found = search(terraformValues(data), [], {});
  const isOne = isPolicy(data, { isExpected: true }) || Object.values(data).some(hasRules);
  return found.length === 0 && isOne ? [{ policy: data, path: [], target: {} }] : found;
}

const hasRules = (value: unknown) =>
  Array.isArray(value) && value.some((item) => isMapping(item) && "actions" in item);

/** The data of a Pulumi YAML program, with unknown values in place of texts that contain `${…}`. */
const withoutTemplates = (data: JsonObject): JsonObject =>
  withUnknown(data, (part) => typeof part === "string" && /(?<!\$)\$\{/.test(part)) as JsonObject;

/** The planned values of Terraform's output, or else its state. A plan repeats the same policies in its other parts. */
function terraformValues(data: JsonObject): JsonObject {
  if (!("format_version" in data)) return data;
  const { planned_values, values } = data;
  return planned_values === undefined ? { values } : { planned_values };
}

const CLOUD = /^(?:endpoints:(?:index:)?CloudEndpoint|ngrok_cloud_endpoint)$/;

/** Kubernetes APIs in which a key such as `trafficPolicy` has another meaning: load balancing, and the schema of a kind. */
const OTHER_API = /^(?:networking\.istio\.io|apiextensions\.k8s\.io)\//;

/** The API groups of the Kubernetes operator. */
const OPERATOR = /(?:^|\.)ngrok\.com\//;

/** A phase with its rules, as YAML or JSON. */
const RULES_TEXT = /\bon_(?:tcp_connect|http_request|http_response|event_stream_message)["']?\s*:\s*[[#-]/;

interface FileTarget extends PolicyTarget {
  /** Whether it is a manifest of the operator, whose `spec.policy` can only be a policy. */
  isOfOperator?: boolean;
}

function search(value: unknown, path: Path, target: FileTarget): (FilePolicy | Misplaced)[] {
  const key = String(path.at(-1));
  const isExpected = POLICY_KEYS.includes(key);
  const isSure =
    SURE_POLICY_KEYS.includes(key) ||
    (isExpected && path.some((part) => SURE_POLICY_KEYS.includes(`${part}`))) ||
    (target.isOfOperator === true && key === "policy" && path.at(-2) === "spec");
  if (typeof value === "string" && key === "traffic_policy_file")
    return [{ path, target, policyFile: value }];
  if (typeof value === "string" && !isExpected) return RULES_TEXT.test(value) ? [{ path, target }] : [];
  // The operator reports there how the policy was attached.
  if (target.isOfOperator && key === "status") return [];
  if (Array.isArray(value)) {
    if (isSure) return [{ path, problem: NO_MAPPING }];
    return value.flatMap((item, index) => search(item, [...path, index], target));
  }
  let policy = value;
  // An empty text means that there is no policy.
  if (isExpected && typeof value === "string" && value !== "") {
    const parsed = policyFromText(value);
    // Text under a key such as `policy` may be something else, unless it names a phase.
    if ("problem" in parsed)
      return isSure || NAMES_PHASE.test(value) ? [{ path, problem: parsed.problem }] : [];
    policy = parsed.data;
  }
  const misplaced = isSure ? [{ path, problem: NO_MAPPING }] : [];
  if (!isMapping(policy)) return ["number", "boolean"].includes(typeof policy) ? misplaced : [];
  if (isPolicy(policy, { isExpected })) return [{ policy, path, target }];
  if (policy !== value) return misplaced;
  const { url, bindings, kind, type, apiVersion } = policy;
  if (OTHER_API.test(String(apiVersion))) return [];
  const isCloud = kind === "CloudEndpoint" || CLOUD.test(String(type));
  const isOfOperator = kind === "NgrokTrafficPolicy" || OPERATOR.test(String(apiVersion));
  const inner: FileTarget = {
    ...target,
    ...(isOfOperator && { isOfOperator }),
    ...(isCloud && { isCloud }),
    // The URL is not known if a template fills it in.
    ...(typeof url === "string" && { url: url.includes("${") ? undefined : url }),
    ...(bindings !== undefined && { bindings }),
  };
  const found = Object.entries(policy).flatMap(([key, part]) => search(part, [...path, key], inner));
  // For example a function of Pulumi that reads a file. The policy was not read, so the file was not checked.
  return found.length > 0 || isEmpty(policy) || isReference(policy) ? found : misplaced;
}

/** Whether a mapping in the place of a policy has nothing: `{}`, or `{ inline: {} }` in Kubernetes. */
function isEmpty(value: unknown): boolean {
  if (!isMapping(value)) return value === null || value === "";
  return Object.entries(value).every(([key, part]) => POLICY_KEYS.includes(key) && isEmpty(part));
}

const REFERENCE_KEYS = ["name", "namespace", "kind", "group", "apiGroup", "apiVersion"];

/** The functions of Pulumi's YAML that return the value of their argument in another form. */
const WRAPPERS = ["fn::toJSON", "fn::secret"];

/**
 * Whether a mapping names a policy that is elsewhere: an object of Kubernetes, `{ targetRef: { name: shop } }`, or a value of a
 * Pulumi.yaml, `{ fn::toJSON: ${policy} }`.
 */
function isReference(value: unknown): boolean {
  if (!isMapping(value)) return false;
  // A text with `${…}` is an unknown value here.
  if (WRAPPERS.some((name) => typeof value[name] === "symbol")) return true;
  if (isReference(value["targetRef"])) return true;
  return typeof value["name"] === "string" && Object.keys(value).every((key) => REFERENCE_KEYS.includes(key));
}

const NAMES_PHASE = /\bon_(?:tcp|http|event)_/;

/** @param isExpected Whether a policy belongs there. If so, a mapping with only misspelt phases counts, too. */
export function isPolicy(value: object, { isExpected } = { isExpected: false }): boolean {
  return Object.keys(value).some(
    (key) =>
      Object.hasOwn(phases, key) ||
      (isExpected && (key.startsWith("on_") || intendedPhase(key) !== undefined)),
  );
}
