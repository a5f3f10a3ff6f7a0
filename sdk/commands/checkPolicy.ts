import { urlProblem } from "../../provider/api/url";
import { command, count, EXIT, UsageError } from "./command";
import { type CheckedFile, checkFile, type FileWarning, UnreadableFile } from "./policyFiles";

const HELP = `Checks traffic policies in files, and warns of what is probably wrong with them.

Usage: npx pulumi-endpoints check-policy [options] FILE…

  --url URL             the URL of the cloud endpoint that gets the policies. The check then also covers what the
                        scheme allows, and whether an action answers (default: the endpoint that the file names
                        for each policy)
  --strict              exit with 7 if there are warnings
  --json                write the result as JSON
  --github              write annotations for GitHub Actions
  --help                this text

A file is YAML or JSON: a policy, or an agent's configuration, Kubernetes manifests or a Pulumi.yaml that contain
policies. The command makes no request. Exit codes: 0 checked, 7 warnings (with --strict), 2 invalid arguments, 1 a file
cannot be read.`;

const flag = { type: "boolean", default: false } as const;

/** `npx pulumi-endpoints check-policy`: the warnings of a preview, for policies in files. */
export const checkPolicyCommand = command({
  name: "check-policy",
  help: HELP,
  options: { url: { type: "string" }, strict: flag, json: flag, github: flag },
  takesFiles: true,

  async run({ url, strict, json, github }, { stdout, log }, files) {
    if (files.length === 0) throw new UsageError("there is no file to check");
    if (json && github) throw new UsageError("--json and --github exclude each other");
    const problem = url === undefined ? undefined : urlProblem(url);
    if (problem !== undefined) throw new UsageError(`--url ${problem}`);

    const target = url === undefined ? undefined : { url, isCloud: true };
    const checked: CheckedFile[] = [];
    const unread: { file: string; error: string }[] = [];
    for (const file of files) {
      try {
        checked.push(checkFile(file, target));
      } catch (error) {
        if (!(error instanceof UnreadableFile)) throw error;
        unread.push({ file, error: error.message });
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
  return `::warning file=${escaped(file)},line=${line},col=${column}::${escaped(message, /[%\r\n]/g)}`;
}

const escaped = (text: string, characters = /[%\r\n:,]/g) =>
  text.replace(characters, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
