import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { UserError } from "../../provider/api/apiErrors";
import { isMapping } from "../../provider/api/json";
import { urlProblem } from "../../provider/api/url";
import { type Path, type Position, pathText, UNKNOWN } from "../../provider/endpoint/documents";
import { phases } from "../../provider/policy/catalogue";
import { sourceDocuments } from "../../provider/policy/positions";
import { type PolicyTarget, phaseMeant, policyWarnings, warningText } from "../../provider/policy/warnings";
import { command, count, EXIT, UsageError } from "./command";
import { tryRequest } from "./policyRequest";

const HELP = `Checks traffic policies in files, and warns of what is probably wrong with them.

Usage: npx pulumi-endpoints check-policy [options] FILE…

  --url URL             the URL of the cloud endpoint that gets the policies. The check then also covers what the
                        scheme allows, and whether an action answers (default: the endpoint that the file names
                        for each policy)
  --request REQUEST     do not check, but print what the file's policy does with a request on this machine:
                        "GET https://shop.example.com/admin"
  --header HEADER       with --request: a header, as in "X-Role: admin"; can be repeated
  --body TEXT           with --request: the body (default: none)
  --client-ip IP        with --request: the client's address (default: 127.0.0.1)
  --vault V/NAME=VALUE  with --request: a value in one of the service's vaults; can be repeated
  --strict              exit with 7 if there are warnings
  --json                write the result as JSON
  --github              write annotations for GitHub Actions
  --help                this text

A file is YAML or JSON: a policy, or an agent's configuration, Kubernetes manifests or a Pulumi.yaml that contain
policies. The file - is the standard input. The command makes no request.
Exit codes: 0 checked, or answered; 7 warnings (with --strict); 2 invalid arguments; 1 a file cannot be read, or only
the service knows the reply.`;

const flag = { type: "boolean", default: false } as const;

/** `npx pulumi-endpoints check-policy`: the warnings of a preview, for policies in files. */
export const checkPolicyCommand = command({
  name: "check-policy",
  help: HELP,
  options: {
    url: { type: "string" },
    request: { type: "string" },
    header: { type: "string", multiple: true, default: [] },
    body: { type: "string", default: "" },
    "client-ip": { type: "string", default: "127.0.0.1" },
    vault: { type: "string", multiple: true, default: [] },
    strict: flag,
    json: flag,
    github: flag,
  },
  takesFiles: true,

  async run(
    { url, strict, json, github, request, header: headers, "client-ip": clientIp, ...more },
    io,
    files,
  ) {
    const { stdout, log } = io;
    if (files.length === 0) throw new UsageError("there is no file to check");
    if (json && github) throw new UsageError("--json and --github exclude each other");
    if (request !== undefined)
      return tryRequest(await onePolicy(files), { request, headers, clientIp, json, ...more }, io);
    const problem = url === undefined ? undefined : urlProblem(url);
    if (problem !== undefined) throw new UsageError(`--url ${problem}`);

    const target = url === undefined ? undefined : { url, isCloud: true };
    const checked: CheckedFile[] = [];
    const unread: { file: string; error: string }[] = [];
    for (const file of files) {
      try {
        checked.push(checkText(nameOf(file), await readText(file), target));
      } catch (error) {
        if (!(error instanceof UnreadableFile)) throw error;
        unread.push({ file: nameOf(file), error: error.message });
        log(`pulumi-endpoints check-policy: ${error.message}`);
      }
    }
    if (json) stdout.write(`${JSON.stringify({ files: checked, unread }, undefined, 2)}\n`);
    const lineOf = github ? annotation : textLine;
    for (const { file, policies, warnings } of checked) {
      if (policies === 0) log(`${file} contains no traffic policy`);
      if (!json) for (const warning of warnings) stdout.write(`${lineOf(file, warning)}\n`);
    }

    const warnings = checked.flatMap((one) => one.warnings).length;
    const policies = checked.reduce((sum, one) => sum + one.policies, 0);
    const parts = [count(policies, "policy", "policies"), count(warnings, "warning")];
    log(`Checked ${count(checked.length, "file")}: ${parts.join(", ")}`);
    if (unread.length > 0) return EXIT.failed;
    return strict && warnings > 0 ? EXIT.findings : EXIT.done;
  },
});

function textLine(file: string, { line, column, message }: FileWarning): string {
  return `${file}:${line}:${column}: ${message}`;
}

/** A line that GitHub Actions shows at the place in the file. */
function annotation(file: string, { line, column, message }: FileWarning): string {
  return `::warning file=${percentEncoded(file)},line=${line},col=${column}::${percentEncoded(message, /[%\r\n]/g)}`;
}

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

/** A file that cannot be read, or that is neither YAML nor JSON. */
class UnreadableFile extends UserError {}

/**
 * Checks every policy of a file.
 *
 * @param file Its name in the result.
 * @param target The endpoint of the policies. Default: the endpoint that the file names for each.
 * @throws UnreadableFile
 */
function checkText(file: string, text: string, target: PolicyTarget | undefined): CheckedFile {
  const source = sourceDocuments(text);
  if ("problem" in source) throw new UnreadableFile(`${file} ${source.problem}`);
  const checked: CheckedFile = { file, policies: 0, warnings: [] };
  for (const { data, positionOf } of source.documents) {
    for (const { policy, path: parent, target: own } of policiesIn(data)) {
      checked.policies++;
      for (const { path: inPolicy, offset, reason } of policyWarnings(policy, target ?? own)) {
        const path = [...parent, ...inPolicy];
        const message = warningText({ path, reason }, "the policy");
        checked.warnings.push({ path: pathText(path), message, ...positionOf(path, offset) });
      }
    }
  }
  return checked;
}

/** @throws UsageError if the files contain no policy, or several. */
async function onePolicy(files: readonly string[]): Promise<object> {
  const policies: object[] = [];
  for (const file of files) {
    const source = sourceDocuments(await readText(file));
    if ("problem" in source) throw new UnreadableFile(`${nameOf(file)} ${source.problem}`);
    for (const { data } of source.documents) policies.push(...policiesIn(data).map(({ policy }) => policy));
  }
  const [policy] = policies;
  if (policy === undefined || policies.length > 1)
    throw new UsageError(`--request needs a file with one policy, and there are ${policies.length}`);
  return policy;
}

const STDIN = "-";

const nameOf = (file: string) => (file === STDIN ? "stdin" : file);

/** @throws UnreadableFile */
async function readText(file: string): Promise<string> {
  try {
    const text = file === STDIN ? await textOf(process.stdin) : readFileSync(file, "utf8");
    return text.replace(/^\ufeff/, "");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    throw new UnreadableFile(`${nameOf(file)} cannot be read (${code})`, { cause: error });
  }
}

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
function policiesIn(written: unknown): FoundPolicy[] {
  const data = isMapping(written) && "runtime" in written ? withoutTemplates(written) : written;
  const found = search(data, [], {});
  const isOther = !isMapping(data) || OTHERS.some((key) => key in data) || Object.keys(data).length === 0;
  return found.length > 0 || isOther ? found : [{ policy: data, path: [], target: {} }];
}

/** The data with unknown values in place of the texts in which Pulumi replaces `${…}`. */
function withoutTemplates(value: unknown): unknown {
  if (typeof value === "string") return /(?<!\$)\$\{/.test(value) ? UNKNOWN : value;
  if (Array.isArray(value)) return value.map(withoutTemplates);
  if (!isMapping(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withoutTemplates(part)]));
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

const SCHEMA_HELP = `Prints a JSON Schema (draft-07) of traffic policies. Editors use it to complete and check YAML.

Usage: npx pulumi-endpoints policy-schema > policy.schema.json

  --help                this text

The first line of a policy's file then names the schema: # yaml-language-server: $schema=policy.schema.json
Exit codes: 0 done, 1 failed, 2 invalid arguments. See docs/policies.md.`;

/** `npx pulumi-endpoints policy-schema`: the catalogue of policies, for editors. */
export const policySchemaCommand = command({
  name: "policy-schema",
  help: SCHEMA_HELP,
  options: {},

  async run(_values, { stdout }) {
    // Found by the package's name, since the compiled command is not in the folder of its source.
    const root = dirname(createRequire(__filename).resolve("pulumi-endpoints/package.json"));
    stdout.write(readFileSync(join(root, "provider", "policy", "schema.json"), "utf8"));
    return EXIT.done;
  },
});
