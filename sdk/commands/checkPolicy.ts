import { existsSync } from "node:fs";
import { type Path, type Position, pathText, SEVERAL_DOCUMENTS } from "../../provider/endpoint/documents";
import { phases } from "../../provider/policy/catalogue";
import { type SourceDocument, sourceDocuments } from "../../provider/policy/positions";
import { type PolicyTarget, phaseMeant, policyWarnings, warningText } from "../../provider/policy/warnings";
import { UNKNOWN } from "../../provider/pulumi/sentinels";
import { UserError } from "../../provider/service/apiErrors";
import { isMapping, type JsonObject } from "../../provider/service/json";
import { urlProblem } from "../../provider/service/url";
import { command, EXIT, UsageError } from "./command";
import { inputText, JSON_OPTION, readText, STANDARD_STREAM, writeResult } from "./options";
import { clientIp, headerPair, requestLine, tryRequest, vaultValue } from "./policyRequest";
import { count } from "./text";

const ONLY_CHECKS = { excludes: ["request"] } as const;

/** `npx pulumi-endpoints check-policy`: the warnings of a preview, for policies in files. */
export const checkPolicyCommand = command({
  name: "check-policy",
  about: "Checks traffic policies in files, and warns of what is probably wrong with them.",
  takes: "FILE…",
  options: {
    url: {
      value: "URL",
      help: "the URL of the cloud endpoint that gets the policies. The check then also covers what the scheme allows, and whether an action answers (default: the endpoint that the file names for each policy)",
      parse: endpointUrl,
      ...ONLY_CHECKS,
    },
    strict: { help: "exit with 7 if there are warnings", ...ONLY_CHECKS },
    github: { help: "write annotations for GitHub Actions", excludes: ["request", "json"] },
    request: {
      value: "REQUEST",
      help: 'do not check, but print what the file\'s policy does with a request on this machine: "GET https://shop.example.com/admin"',
      parse: requestLine,
    },
    header: {
      value: "HEADER",
      help: 'a header, as in "X-Role: admin"',
      parse: headerPair,
      isRepeatable: true,
      needs: ["request"],
    },
    body: { value: "TEXT", help: "the body (default: none)", needs: ["request"] },
    clientIp,
    vault: vaultValue,
    json: JSON_OPTION,
  },
  notes: `A file is YAML or JSON: a policy, or an agent's configuration, Kubernetes manifests or a Pulumi.yaml that contain policies. The file - is the standard input. The command makes no request.
Exit codes: 0 checked, or answered; 7 warnings (with --strict); 2 invalid arguments; 1 a file cannot be read, or only the service knows the reply.`,

  async run({ url, strict, github, request, json, ...connection }, io, files) {
    if (files.length === 0) throw new UsageError("there is no file to check");
    if (json !== undefined) refuseToReplacePolicy(json);
    if (request) {
      const one = await onePolicy(files);
      // A misspelt key may be why the reply is not known.
      const hints = () => warningsOf(one, undefined).map((warning) => textLine(one.file, warning));
      return tryRequest(one.policy, { request, json, ...connection }, hints, io);
    }

    const { stdout, log } = io;
    const target = url === undefined ? undefined : { url, isCloud: true };
    const checked: CheckedFile[] = [];
    const unread: { file: string; error: string }[] = [];
    for (const file of files) {
      try {
        const policies = await policiesOf(file);
        const warnings = policies.flatMap((one) => warningsOf(one, target));
        checked.push({ file: nameOf(file), policies: policies.length, warnings });
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        unread.push({ file: nameOf(file), error: error.message });
        log(`pulumi-endpoints check-policy: ${error.message}`);
      }
    }
    const lineOf = github ? annotation : textLine;
    const lines = checked.flatMap(({ file, warnings }) => warnings.map((one) => `${lineOf(file, one)}\n`));
    const errors = github ? unread.map(({ file, error }) => `${errorAnnotation(file, error)}\n`) : [];
    writeResult({ files: checked, unread }, [...lines, ...errors].join(""), json, stdout);
    for (const { file, policies } of checked) if (policies === 0) log(`${file} contains no traffic policy`);

    const policies = checked.reduce((sum, one) => sum + one.policies, 0);
    const parts = [count(policies, "policy", "policies"), count(lines.length, "warning")];
    log(`Checked ${count(checked.length, "file")}: ${parts.join(", ")}`);
    if (unread.length > 0) return EXIT.failed;
    return strict && lines.length > 0 ? EXIT.findings : EXIT.done;
  },
});

function endpointUrl(text: string): string {
  const problem = urlProblem(text);
  if (problem !== undefined) throw new UsageError(problem);
  return text;
}

/** `--json policy.json` is a mistake for `--json - policy.json`. */
function refuseToReplacePolicy(file: string): void {
  if (file === STANDARD_STREAM || !existsSync(file)) return;
  const source = sourceDocuments(readText(file));
  if ("problem" in source || source.documents.some(({ data }) => search(data, [], {}).length > 0))
    throw new UsageError(`--json would replace ${file}, which is no result of this command`);
}

function textLine(file: string, { line, column, message }: FileWarning): string {
  return `${file}:${line}:${column}: ${message}`;
}

/** A line that GitHub Actions shows at the place in the file. */
function annotation(file: string, { line, column, message }: FileWarning): string {
  return `::warning file=${percentEncoded(file)},line=${line},col=${column}::${percentEncoded(message, /[%\r\n]/g)}`;
}

/** The same for a file that cannot be checked. */
const errorAnnotation = (file: string, error: string) =>
  `::error file=${percentEncoded(file)}::${percentEncoded(error, /[%\r\n]/g)}`;

const percentEncoded = (text: string, characters = /[%\r\n:,]/g) =>
  text.replace(characters, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);

/** A warning with its position. */
interface FileWarning extends Position {
  /** In the file's data: `endpoints[0].traffic_policy.on_http_request[0]`. */
  path: string;
  message: string;
}

interface CheckedFile {
  file: string;
  /** The number of policies in the file. */
  policies: number;
  warnings: FileWarning[];
}

/** A policy with the position of its parts. */
interface FilePolicy extends FoundPolicy, Pick<SourceDocument, "positionOf"> {
  file: string;
}

/**
 * The policies of a file, or of the standard input.
 *
 * @throws UserError if it cannot be read, or is neither YAML nor JSON.
 */
async function policiesOf(path: string): Promise<FilePolicy[]> {
  const file = nameOf(path);
  const source = sourceDocuments(await inputText(path));
  if ("problem" in source) throw new UserError(`${file} ${source.problem}`);
  const policies = source.documents.flatMap(({ data, positionOf }) =>
    policiesIn(data).map((found) => ({ ...found, file, positionOf })),
  );
  // A document that is a policy stands alone.
  if (source.documents.length > 1 && policies.some(({ path }) => path.length === 0))
    throw new UserError(`${file} ${SEVERAL_DOCUMENTS}`);
  return policies;
}

/** @param target The endpoint of the policy. Default: the endpoint that the file names. */
function warningsOf(one: FilePolicy, target: PolicyTarget | undefined): FileWarning[] {
  return policyWarnings(one.policy, target ?? one.target).map(({ path: inPolicy, offset, reason }) => {
    const path = [...one.path, ...inPolicy];
    const message = warningText({ path, reason }, "the policy");
    return { path: pathText(path), message, ...one.positionOf(path, offset) };
  });
}

/** @throws UsageError if the files contain no policy, or several. */
async function onePolicy(files: readonly string[]): Promise<FilePolicy> {
  const policies: FilePolicy[] = [];
  for (const file of files) policies.push(...(await policiesOf(file)));
  const [policy] = policies;
  if (policy === undefined || policies.length > 1)
    throw new UsageError(`--request needs a file with one policy, and there are ${policies.length}`);
  return policy;
}

const nameOf = (file: string) => (file === STANDARD_STREAM ? "stdin" : file);

interface FoundPolicy {
  policy: object;
  path: Path;
  target: PolicyTarget;
}

/** The keys of policies in other documents. */
const HOLDERS = ["traffic_policy", "trafficPolicy", "policy", "inline"];

/** The keys of documents that are no policies themselves. */
const OTHERS = [...HOLDERS, "apiVersion", "version", "resources", "runtime", "endpoints", "tunnels"];

/** The policies in a document. A document of no other known kind is a policy itself. */
function policiesIn(written: JsonObject): FoundPolicy[] {
  const data = "runtime" in written ? withoutTemplates(written) : written;
  const found = search(data, [], {});
  const isOther = OTHERS.some((key) => key in data) || Object.keys(data).length === 0;
  return found.length > 0 || isOther ? found : [{ policy: data, path: [], target: {} }];
}

/** The data with unknown values in place of the texts in which Pulumi replaces `${…}`. */
const withoutTemplates = (data: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(data).map(([key, part]) => [key, withoutTemplate(part)]));

function withoutTemplate(value: unknown): unknown {
  if (typeof value === "string") return /(?<!\$)\$\{/.test(value) ? UNKNOWN : value;
  if (Array.isArray(value)) return value.map(withoutTemplate);
  return isMapping(value) ? withoutTemplates(value) : value;
}

function search(value: unknown, path: Path, target: PolicyTarget): FoundPolicy[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => search(item, [...path, index], target));
  if (!isMapping(value)) return [];
  if (isPolicy(value, { isExpected: HOLDERS.includes(String(path.at(-1))) }))
    return [{ policy: value, path, target }];
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
function isPolicy(value: object, { isExpected }: { isExpected: boolean }): boolean {
  return Object.keys(value).some(
    (key) =>
      Object.hasOwn(phases, key) || (isExpected && (key.startsWith("on_") || phaseMeant(key) !== undefined)),
  );
}
