import type { Diagnostic, RunResult, Step as ShownStep, StepOp } from "../types";
import { translate } from "./detailedDiff";
import { type Change, diffProps, isInternalKey, shortDiff } from "./objectDiff";
import { given, groupSigns, masked, outputLines, tree, withoutSecrets } from "./render";
import {
  isDefaultProvider,
  isProviderType,
  nameOf,
  type ResourceState,
  ROOT_STACK,
  typeOf,
} from "./resourceState";
import type { Step } from "./step";
import type { Props } from "./values";

const PREFIX: Record<string, string> = {
  same: "  ",
  create: "+ ",
  delete: "- ",
  update: "~ ",
  replace: "+-",
  "create-replacement": "++",
  "delete-replaced": "--",
  read: "> ",
  "read-replacement": ">>",
  refresh: "~ ",
  discard: "< ",
  "discard-replaced": "<<",
  import: "= ",
  "import-replacement": "=>",
};

/** What a line says of a step: before it is done (in a preview), after it, and when it failed. */
const WORDS: Record<string, [string, string, string]> = {
  same: ["", "", "failed"],
  create: ["create", "created", "creating failed"],
  delete: ["delete", "deleted", "deleting failed"],
  update: ["update", "updated", "updating failed"],
  replace: ["replace", "replaced", "replacing failed"],
  "create-replacement": ["create replacement", "created replacement", "creating failed"],
  "delete-replaced": ["delete original", "deleted original", "deleting failed"],
  read: ["read", "read", "reading failed"],
  "read-replacement": ["read for replacement", "read for replacement", "reading failed"],
  refresh: ["refresh", "refresh", "refreshing failed"],
  discard: ["discard", "discarded", "discarding failed"],
  "discard-replaced": ["discard original", "discarded original", "discarding failed"],
  import: ["import", "imported", "importing failed"],
  "import-replacement": ["import replacement", "imported replacement", "importing failed"],
};

const SUMMARY_ORDER: StepOp[] = [
  "import",
  "create",
  "update",
  "delete",
  "replace",
  "refresh",
  "discard",
  "discard-replaced",
];

export type Kind = "preview" | "update" | "refresh" | "destroy" | "import";

/** Collects what a run did and said, in the engine's own words. Secret values never get in. */
export class Display {
  readonly steps: ShownStep[] = [];
  readonly changes: RunResult["changes"] = {};
  readonly diagnostics: Diagnostic[] = [];
  private readonly lines: string[] = [];
  private readonly started = Date.now();
  private readonly failed = new Set<string>();

  constructor(
    kind: Kind,
    private readonly stack: string,
    private readonly project: string,
    private readonly dryRun: boolean,
    what: Kind = "update",
  ) {
    const verbs = {
      preview: `Previewing ${what}`,
      update: "Updating",
      refresh: "Refreshing",
      destroy: "Destroying",
      import: "Importing",
    };
    this.lines.push(`${verbs[kind]} (${stack}):`, "");
  }

  /** `debug` is left out, as without `--debug`: the SDK logs whole properties there, secrets in plain. */
  report(severity: Diagnostic["severity"], message: string, urn = ""): void {
    if (severity === "debug") return;
    this.diagnostics.push({ severity, message, ...(urn !== "" && { urn }) });
    if (severity === "error") this.failed.add(urn === "" ? this.rootUrn() : urn);
  }

  /** A step has ended well as `op`; as `OnResourceStepPost`. */
  done(step: Step, op: StepOp = step.op): void {
    if (isDefaultProvider(step.urn)) return;
    if (counts(step)) this.changes[op] = (this.changes[op] ?? 0) + 1;
    this.show(step, op, (WORDS[op] ?? ["", "", ""])[this.dryRun ? 0 : 1]);
  }

  failure(step: Step): void {
    if (!isDefaultProvider(step.urn))
      this.line(step, step.op, `**${(WORDS[step.op] ?? ["", "", ""])[2]}**`, []);
  }

  private show(step: Step, op: StepOp, words: string): void {
    const { old, new: next, urn } = step;
    const type = typeOf(urn);
    const changes = old && next && op !== "same" ? changesOf(step) : [];
    const diff = old && next ? shortDiff(changes, metadata(op, old, next), step.changedKeys ?? []) : [];
    const id = next?.id || old?.id;
    if (type !== ROOT_STACK && !isProviderType(type))
      this.steps.push({
        op,
        urn,
        type,
        name: nameOf(urn),
        ...(id && { id }),
        diff,
        ...(next?.outputs && { outputs: withoutSecrets(next.outputs) }),
      });
    if (op === "same" && diff.length === 0) return;
    this.line(step, op, words, diff);
    // The creation that belongs to a replacement shows the change; the replacement itself is only its headline.
    if ((op === "create" || op === "import") && next)
      this.lines.push(
        ...Object.keys(next.inputs)
          .sort()
          .flatMap((key) => given(key, next.inputs[key])),
      );
    else if (op !== "replace")
      this.lines.push(
        ...tree(
          changes.filter(({ path }) => !isInternalKey(String(path[0]))),
          0,
          "      ",
        ),
      );
  }

  private line(step: Step, op: StepOp, words: string, diff: string[]): void {
    const shown = groupSigns(diff);
    const parts = [
      ` ${PREFIX[op] ?? "  "}`,
      typeOf(step.urn),
      nameOf(step.urn),
      words,
      shown && `[diff: ${shown}]`,
    ];
    this.lines.push(parts.filter((part) => part !== "").join(" "));
  }

  /** The last lines: diagnostics by resource, outputs, summary; as `renderSummaryEvent`. */
  text(olds: Props, outputs: Props): string {
    const lines = [...this.lines, ...this.diagnosticLines(), ...outputLines(olds, outputs), "Resources:"];
    const shown = SUMMARY_ORDER.filter((op) => (this.changes[op] ?? 0) > 0);
    for (const op of shown) {
      const word = this.dryRun ? `to ${op}` : (WORDS[op]?.[1] ?? op);
      lines.push(`    ${PREFIX[op]}${this.changes[op]} ${word}`);
    }
    const total = shown.reduce((sum, op) => sum + (this.changes[op] ?? 0), 0);
    const pieces = [
      shown.length > 1 ? `${total} changes` : "",
      this.changes.same ? `${this.changes.same} unchanged` : "",
    ];
    const piece = pieces.filter((each) => each !== "").join(". ");
    if (piece !== "") lines.push(`    ${piece}`);
    if (this.failed.size > 0) lines.push(`    ${this.failed.size} errored`);
    if (!this.dryRun) lines.push("", `Duration: ${Math.ceil((Date.now() - this.started) / 1000)}s`);
    return `${lines.join("\n")}\n`;
  }

  private diagnosticLines(): string[] {
    if (this.diagnostics.length === 0) return [];
    const lines = ["Diagnostics:"];
    for (const urn of new Set(this.diagnostics.map((each) => each.urn ?? this.rootUrn()))) {
      lines.push(`  ${typeOf(urn)} (${nameOf(urn)}):`);
      for (const { severity, message } of this.diagnostics.filter(
        (each) => (each.urn ?? this.rootUrn()) === urn,
      )) {
        const text = `${severity === "info" ? "" : `${severity}: `}${message.trimEnd()}`;
        lines.push(...text.split("\n").map((line) => `    ${line}`));
      }
      lines.push("");
    }
    return lines;
  }

  private rootUrn(): string {
    return `urn:pulumi:${this.stack}::${this.project}::${ROOT_STACK}::${this.project}-${this.stack}`;
  }
}

/** A read counts only where it found something else than before; as `shouldRecordReadStep`. */
function counts(step: Step): boolean {
  if (step.op !== "read") return step.logical;
  return step.old !== undefined && diffProps(step.old.outputs ?? {}, step.new?.outputs ?? {}).length > 0;
}

/** As `getDiffInfo`: the differences that the step itself names, else those of the inputs with secrets masked. */
function changesOf({ old, new: next, detailed }: Step): Change[] {
  if (detailed && old && next) return translate(detailed, maskedState(old), maskedState(next));
  return diffProps(masked(old?.inputs ?? {}), masked(next?.inputs ?? {}), isInternalKey);
}

function maskedState(state: ResourceState): ResourceState {
  return { ...state, inputs: masked(state.inputs), outputs: masked(state.outputs ?? {}) };
}

/** Of an unchanged resource only a change of its protection is worth a line; as `shouldShow`. */
function metadata(op: StepOp, old: ResourceState, next: ResourceState): string[] {
  return [
    old.provider === next.provider || (op === "same" && old.protect === next.protect) ? "" : "provider",
    old.protect === next.protect ? "" : "protect",
  ].filter(Boolean);
}
