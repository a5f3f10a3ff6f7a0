import type { Diagnostic, RunResult, Step as ShownStep, StepOp } from "../types";
import { type Change, diffProps, isInternalKey, shortDiff } from "./objectDiff";
import { nameOf, type ResourceState, ROOT_STACK } from "./resourceState";
import type { Step } from "./steps";
import { isProps, type Props, Reference, Secret, Unknown, type Value } from "./values";

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
};

const SUMMARY_ORDER: StepOp[] = [
  "create",
  "update",
  "delete",
  "replace",
  "refresh",
  "discard",
  "discard-replaced",
];

export type Kind = "preview" | "update" | "refresh" | "destroy";

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
    if (step.internal) return;
    if (counts(step)) this.changes[op] = (this.changes[op] ?? 0) + 1;
    this.show(step, op, (WORDS[op] ?? ["", "", ""])[this.dryRun ? 0 : 1]);
  }

  failure(step: Step): void {
    if (!step.internal) this.line(step, step.op, `**${(WORDS[step.op] ?? ["", "", ""])[2]}**`, []);
  }

  private show(step: Step, op: StepOp, words: string): void {
    const { old, new: next, urn } = step;
    const type = typeOf(urn);
    const changes = old && next && op !== "same" ? changesOf(step) : [];
    const diff =
      old && next
        ? shortDiff(changes, old.inputs, next.inputs, metadata(old, next), step.changedKeys ?? [])
        : [];
    const id = next?.id || old?.id;
    if (type !== ROOT_STACK)
      this.steps.push({ op, urn, type, name: nameOf(urn), ...(id ? { id } : {}), diff });
    if (op === "same" && diff.length === 0) return;
    this.line(step, op, words, diff);
    // The creation that belongs to a replacement shows the change; the replacement itself is only its headline.
    if (op === "create" && next)
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

function typeOf(urn: string): string {
  return (urn.split("::")[2] ?? "").split("$").at(-1) ?? "";
}

/** A read counts only where it found something else than before; as `shouldRecordReadStep`. */
function counts(step: Step): boolean {
  if (step.op !== "read") return step.logical;
  return step.old !== undefined && diffProps(step.old.outputs ?? {}, step.new?.outputs ?? {}).length > 0;
}

/** As `getDiffInfo`: the differences that the step itself names, else those of the inputs with secrets masked. */
function changesOf({ old, new: next, changes }: Step): Change[] {
  return changes ?? diffProps(masked(old?.inputs ?? {}), masked(next?.inputs ?? {}), isInternalKey);
}

function metadata(old: ResourceState, next: ResourceState): string[] {
  return [
    old.provider === next.provider ? "" : "provider",
    old.protect === next.protect ? "" : "protect",
  ].filter(Boolean);
}

/** All secrets alike, as `filterPropertyValue` leaves them: a change of a secret is no difference that is shown. */
function masked(props: Props): Props {
  const mask = (value: Value): Value => {
    if (value instanceof Secret) return new Secret("[secret]");
    if (Array.isArray(value)) return value.map(mask);
    return isProps(value) ? masked(value) : value;
  };
  return Object.fromEntries(Object.entries(props).map(([key, value]) => [key, mask(value)]));
}

/** `+a,b-c~d`: a sign once, before all of its keys. */
function groupSigns(diff: string[]): string {
  const of = (sign: string): string[] =>
    diff.filter((key) => key.startsWith(sign)).map((key) => key.slice(1));
  return ["+", "-", "~"].map((sign) => (of(sign).length > 0 ? `${sign}${of(sign).join(",")}` : "")).join("");
}

function given(key: string, value: Value | undefined): string[] {
  return isInternalKey(key) ? [] : [`      ${key}: ${inline(value ?? null)}`];
}

function inline(value: Value | undefined): string {
  if (value instanceof Secret) return "[secret]";
  if (value instanceof Unknown) return "[unknown]";
  if (value instanceof Reference) return value.id ?? value.urn;
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (!isProps(value)) return JSON.stringify(value ?? null);
  const entries = Object.entries(value).filter(([key]) => !isInternalKey(key));
  return `{${entries.map(([key, item]) => `${key}: ${inline(item)}`).join(", ")}}`;
}

const SIGNS = { add: "+", delete: "-", update: "~" };

/** The changes as a tree: what they have in common once, with what is inside indented below. */
function tree(changes: Change[], depth: number, indent: string): string[] {
  const lines: string[] = [];
  for (const key of new Set(changes.map(({ path }) => path[depth]))) {
    const inside = changes.filter(({ path }) => path[depth] === key);
    const label = typeof key === "number" ? `[${key}]` : String(key);
    const leaf = inside.find(({ path }) => path.length === depth + 1);
    if (leaf === undefined) {
      lines.push(`${indent}~ ${label}:`, ...tree(inside, depth + 1, `${indent}    `));
      continue;
    }
    const value =
      leaf.kind === "update" ? `${inline(leaf.old)} => ${inline(leaf.new)}` : inline(leaf.old ?? leaf.new);
    lines.push(`${indent}${SIGNS[leaf.kind]} ${label}: ${value}`);
  }
  return lines;
}

function outputLines(olds: Props, outputs: Props): string[] {
  const keys = [...new Set([...Object.keys(olds), ...Object.keys(outputs)])].sort();
  if (keys.length === 0) return [];
  const fresh = Object.keys(olds).length === 0;
  const changes = new Map(
    diffProps(masked(olds), masked(outputs)).map((change) => [String(change.path[0]), change]),
  );
  const lines = keys.map((key) => {
    const [from, to] = [olds[key], outputs[key]];
    if (fresh || !changes.has(key)) return `    ${key}: ${inline(to)}`;
    if (from === undefined) return `  + ${key}: ${inline(to)}`;
    return to === undefined ? `  - ${key}: ${inline(from)}` : `  ~ ${key}: ${inline(from)} => ${inline(to)}`;
  });
  return ["Outputs:", ...lines, ""];
}
