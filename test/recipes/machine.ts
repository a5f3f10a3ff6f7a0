import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { parse } from "yaml";
import { temporaryFolder } from "../folders";

export const recipes = join(import.meta.dirname, "../../examples/gitops");
/** The script that the recipes for GitHub and GitLab share. */
export const script = join(recipes, "endpoints.mjs");
/** The file that `npx pulumi-endpoints` runs. */
const commandFile = join(import.meta.dirname, "../../dist/sdk/commands/main.js");

export const isInstalled = (command: string) => spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;

/** The options of `pulumi up` and other commands in every recipe. */
export const QUIET = "--suppress-progress --non-interactive --color never";

export interface Ran {
  code: number;
  output: string;
}

/** Records a call, as `/folder> command arguments (key)`. */
const NOTE = `echo "\${PWD#"$ROOT"}> $(basename "$0") $*\${ENDPOINTS_API_KEY:+ ($ENDPOINTS_API_KEY)}" >>"$CALLS"`;

/**
 * A machine on which the scripts of a recipe run, without the environment of the tests. It has a repository of two projects, each
 * with a stack prod, and stand-ins in place of the commands that a recipe calls.
 */
export class Machine {
  readonly folder = temporaryFolder();
  /** A folder for the files of a run. */
  readonly scratch = temporaryFolder();
  private readonly bin = join(this.scratch, "bin");
  private readonly calls = join(this.scratch, "calls");
  /** The environment of every process. */
  readonly env: Record<string, string> = {
    PATH: [this.bin, process.env["PATH"]].join(delimiter),
    HOME: this.scratch,
    ROOT: this.folder,
    CALLS: this.calls,
  };

  /**
   * @param pulumi The script of Pulumi's stand-in.
   * @param drift The exit code of `drift`, its report, and what it writes for `--json`.
   */
  constructor(pulumi = "", drift: { code: number; report: string; json?: object } = { code: 0, report: "" }) {
    for (const project of ["api", "shop"]) {
      mkdirSync(join(this.folder, project));
      writeFileSync(join(this.folder, project, "Pulumi.yaml"), `name: ${project}\nruntime: nodejs\n`);
      writeFileSync(join(this.folder, project, "Pulumi.prod.yaml"), "config: {}\n");
    }
    writeFileSync(join(this.folder, "stacks.yaml"), "projects: [{folder: '*', stacks: [prod]}]\n");
    mkdirSync(this.bin);
    writeFileSync(this.calls, "");
    this.standIn("npm");
    this.standIn("pulumi", pulumi);
    writeFileSync(join(this.scratch, "report"), drift.report);
    writeFileSync(join(this.scratch, "report.json"), JSON.stringify(drift.json ?? { stacks: [{}] }));
    this.standIn(
      "npx",
      `shift 2
      if [ "$1" = drift ]; then
        while [ $# -gt 0 ]; do
          if [ "$1" = --json ]; then cp "$HOME/report.json" "$2"; fi
          shift
        done
        cat "$HOME/report"
        exit ${drift.code}
      fi
      exec node ${commandFile} "$@"`,
    );
  }

  /** Puts a command first on the PATH. It records its call and runs this script. */
  standIn(name: string, script = ""): void {
    writeFileSync(join(this.bin, name), `#!/bin/sh\n${NOTE}\n${script}\n`, { mode: 0o755 });
  }

  note(call: string): void {
    appendFileSync(this.calls, `${call}\n`);
  }

  /** The calls so far. A call with `--cwd` counts as a call in that folder. */
  transcript(): string[] {
    const text = readFileSync(this.calls, "utf8").replaceAll(this.scratch, "~");
    return text
      .replace(/^> (.*?) --cwd (\S+)/gm, "/$2> $1")
      .split("\n")
      .filter(Boolean);
  }

  /** Runs a command until it ends. */
  run([command = "", ...args]: string[], env: Record<string, string> = {}): Promise<Ran> {
    return new Promise((resolve, reject) => {
      const child = spawn(command, args, {
        cwd: this.folder,
        env: { ...this.env, ...env },
        stdio: ["ignore", "pipe", "pipe"],
      });
      let output = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
      child.on("error", reject);
      child.on("close", (code) => resolve({ code: code ?? -1, output }));
    });
  }

  /** A file of the repository in YAML. */
  yaml = (file: string): unknown => parse(readFileSync(join(this.folder, file), "utf8"));

  read = (file: string): string => readFileSync(join(this.scratch, file), "utf8");
}
