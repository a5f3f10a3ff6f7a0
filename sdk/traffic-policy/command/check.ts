import { existsSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { NO_MAPPING } from "../../../provider/data/parse";
import { count } from "../../../provider/data/text";
import { urlProblem } from "../../../provider/data/url";
import { UsageError, UserError } from "../../../provider/data/userError";
import { type CommandIo, EXIT, inputText, readText, STANDARD_STREAM, writeResult } from "../../io";
import { type FilePolicy, isPolicy, policiesInText, type Warning, warningsOfOne } from "../policy/files";

/** The options as the user wrote them. Mistakes in them are usage errors. */
interface CheckOptions {
  url?: string | undefined;
  strict?: boolean | undefined;
  github?: boolean | undefined;
  json?: string | undefined;
}

/** Prints the warnings for the policies in files, and returns the exit code. */
export async function checkFiles(
  files: readonly string[],
  { url, strict, github, json }: CheckOptions,
  { stdout, log, name }: CommandIo,
): Promise<number> {
  const problem = url === undefined ? undefined : urlProblem(url);
  if (problem !== undefined) throw new UsageError(`--url ${problem}`);
  assertUsableFiles(files, json);
  const endpoint = url === undefined ? undefined : { url, isCloud: true };
  const checked: { file: string; policies: number; warnings: Warning[] }[] = [];
  const unread: { file: string; error: string }[] = [];
  for (const path of files) {
    const file = nameOf(path);
    try {
      const policies = await policiesOf(path);
      if (policies.length === 0) log(`${file} contains no traffic policy`);
      for (const name of new Set([file, ...policies.map((one) => one.file)])) {
        const own = policies.filter((one) => one.file === name);
        const found = own.flatMap((one) => warningsOfOne(one, endpoint));
        // Several endpoints can have the policy of one file.
        const warnings = [...new Map(found.map((one) => [textLine(name, one), one])).values()];
        checked.push({ file: name, policies: own.filter(({ policy }) => policy).length, warnings });
      }
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      unread.push({ file, error: error.message });
      log(`${name}: ${error.message}`);
    }
  }
  const lineOf = (file: string, one: Warning) =>
    github
      ? annotation("warning", file, one.message, `,line=${one.line},col=${one.column}`)
      : textLine(file, one);
  const lines = checked.flatMap(({ file, warnings }) => warnings.map((one) => `${lineOf(file, one)}\n`));
  const errors = github ? unread.map(({ file, error }) => `${annotation("error", file, error)}\n`) : [];
  writeResult({ files: checked, unread }, [...lines, ...errors].join(""), json, stdout);

  const policies = checked.reduce((sum, one) => sum + one.policies, 0);
  const parts = [count(policies, "policy", "policies"), count(lines.length, "warning")];
  log(`Checked ${count(checked.length, "file")}: ${parts.join(", ")}`);
  if (unread.length > 0) return EXIT.failed;
  return strict && lines.length > 0 ? EXIT.findings : EXIT.done;
}

/** @throws UsageError if there is no file, or if the result would replace a policy. */
export function assertUsableFiles(files: readonly string[], json: string | undefined): void {
  if (files.length === 0) throw new UsageError("there is no file to check");
  // `--json policy.json` is a mistake for `--json - policy.json`.
  if (json === undefined || json === STANDARD_STREAM || !existsSync(json)) return;
  const found = policiesInText(readText(json));
  if ("problem" in found || found.policies.some(({ policy }) => policy && isPolicy(policy)))
    throw new UsageError(`--json would replace ${json}, which is no result of this command`);
}

export function textLine(file: string, { line, column, message }: Warning): string {
  return `${file}:${line}:${column}: ${message}`;
}

/** A line that GitHub Actions shows at a file, or at a place in it. */
function annotation(level: "warning" | "error", file: string, message: string, place = ""): string {
  const encoded = (text: string, characters: RegExp) =>
    text.replace(characters, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
  return `::${level} file=${encoded(file, /[%\r\n:,]/g)}${place}::${encoded(message, /[%\r\n]/g)}`;
}

/**
 * The policies of a file, or of the standard input, with those of the files that it names.
 *
 * @throws UserError if a file cannot be read, is neither YAML nor JSON, or is named but no policy.
 */
export async function policiesOf(path: string): Promise<(FilePolicy & { file: string })[]> {
  const file = nameOf(path);
  return parsed(file, await inputText(path)).map((one) => {
    if (one.policyFile === undefined) return { ...one, file };
    const named = isAbsolute(one.policyFile) ? one.policyFile : join(dirname(path), one.policyFile);
    const [policy] = parsed(named, readText(named));
    if (policy?.path.length !== 0) throw new UserError(`${named} ${NO_MAPPING}`);
    return { ...policy, target: one.target, file: named };
  });
}

function parsed(file: string, text: string): FilePolicy[] {
  const found = policiesInText(text);
  if ("problem" in found) throw new UserError(`${file} ${found.problem}`);
  return found.policies;
}

const nameOf = (file: string) => (file === STANDARD_STREAM ? "stdin" : file);
