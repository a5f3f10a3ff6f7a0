import { existsSync } from "node:fs";
import { urlProblem } from "../data/url";
import { UserError } from "../data/userError";
import { type FilePolicy, isPolicy, policiesInText, type Warning, warningsOfOne } from "../policy/files";
import { inputText, JSON_OPTION, readText, STANDARD_STREAM, writeResult } from "./files";
import { type CommandIo, EXIT, type Options, UsageError, type Values } from "./frame";
import { count } from "./terminalText";

/* `check`: the warnings for the policies in files. */

export const checkOptions = {
  url: {
    value: "URL",
    help: "the URL of the cloud endpoint that gets the policies. The check then also covers what the scheme allows, and whether an action answers (default: the endpoint that the file names for each policy)",
    parse: endpointUrl,
  },
  strict: { help: "exit with 7 if there are warnings" },
  github: { help: "write annotations for GitHub Actions", excludes: ["json"] },
  json: JSON_OPTION,
} as const satisfies Options;

/** Prints the warnings for the policies in files, and returns the exit code. */
export async function checkFiles(
  files: readonly string[],
  { url, strict, github, json }: Values<typeof checkOptions>,
  { stdout, log, name }: CommandIo,
): Promise<number> {
  refuseUselessFiles(files, json);
  const endpoint = url === undefined ? undefined : { url, isCloud: true };
  const checked: { file: string; policies: number; warnings: Warning[] }[] = [];
  const unread: { file: string; error: string }[] = [];
  for (const path of files) {
    const file = nameOf(path);
    try {
      const policies = await policiesOf(path);
      const warnings = policies.flatMap((one) => warningsOfOne(one, endpoint));
      checked.push({ file, policies: policies.length, warnings });
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      unread.push({ file, error: error.message });
      log(`${name}: ${error.message}`);
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
}

/** @throws UsageError if there is no file, or if the result would replace a policy. */
export function refuseUselessFiles(files: readonly string[], json: string | undefined): void {
  if (files.length === 0) throw new UsageError("there is no file to check");
  // `--json policy.json` is a mistake for `--json - policy.json`.
  if (json === undefined || json === STANDARD_STREAM || !existsSync(json)) return;
  const found = policiesInText(readText(json));
  if ("problem" in found || found.policies.some(({ policy }) => isPolicy(policy)))
    throw new UsageError(`--json would replace ${json}, which is no result of this command`);
}

function endpointUrl(text: string): string {
  const problem = urlProblem(text);
  if (problem !== undefined) throw new UsageError(problem);
  return text;
}

export function textLine(file: string, { line, column, message }: Warning): string {
  return `${file}:${line}:${column}: ${message}`;
}

/** A line that GitHub Actions shows at the place in the file. */
function annotation(file: string, { line, column, message }: Warning): string {
  return `::warning file=${percentEncoded(file)},line=${line},col=${column}::${percentEncoded(message, /[%\r\n]/g)}`;
}

/** The same for a file that cannot be checked. */
const errorAnnotation = (file: string, error: string) =>
  `::error file=${percentEncoded(file)}::${percentEncoded(error, /[%\r\n]/g)}`;

const percentEncoded = (text: string, characters = /[%\r\n:,]/g) =>
  text.replace(characters, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);

/**
 * The policies of a file, or of the standard input.
 *
 * @throws UserError if it cannot be read, or is neither YAML nor JSON.
 */
export async function policiesOf(path: string): Promise<FilePolicy[]> {
  const found = policiesInText(await inputText(path));
  if ("problem" in found) throw new UserError(`${nameOf(path)} ${found.problem}`);
  return found.policies;
}

export const nameOf = (file: string) => (file === STANDARD_STREAM ? "stdin" : file);
