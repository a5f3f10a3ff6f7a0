import { UNKNOWN } from "../../../provider/document";
import type { Diagnostic, RunResult, Step as ShownStep, StepOp } from "../types";
import {
  isDefaultProvider,
  isProvider,
  nameOf,
  type Place,
  type ResourceState,
  ROOT_STACK,
  rootUrn,
  typeOf,
} from "./checkpoint";
import type { Step } from "./plan";
import { isProps, isSecret, masked, maskedProps, type Props, plain, shown } from "./properties";
import { type Change, changesBetween, isInternal, SIGNS, shortDiff, withValues } from "./propertyDiff";

/** The sign of a line, and its words: before the step is done (in a preview), after it, and when it failed. */
const WORDS: Record<string, [string, string, string, string]> = {
  same: ["  ", "", "", "failed"],
  create: ["+ ", "create", "created", "creating failed"],
  delete: ["- ", "delete", "deleted", "deleting failed"],
  update: ["~ ", "update", "updated", "updating failed"],
  replace: ["+-", "replace", "replaced", "replacing failed"],
  "create-replacement": ["++", "create replacement", "created replacement", "creating failed"],
  "delete-replaced": ["--", "delete original", "deleted original", "deleting failed"],
  read: ["> ", "read", "read", "reading failed"],
  "read-replacement": [">>", "read for replacement", "read for replacement", "reading failed"],
  refresh: ["~ ", "refresh", "refresh", "refreshing failed"],
  discard: ["< ", "discard", "discarded", "discarding failed"],
  "discard-replaced": ["<<", "discard original", "discarded original", "discarding failed"],
  import: ["= ", "import", "imported", "importing failed"],
  "import-replacement": ["=>", "import replacement", "imported replacement", "importing failed"],
};
const wordsOf = (op: StepOp) => WORDS[op] ?? ["  ", "", "", ""];

/** In the order in which the summary counts them. */
const COUNTED: StepOp[] = [
  "import",
  "create",
  "update",
  "delete",
  "replace",
  "refresh",
  "discard",
  "discard-replaced",
];

/** Collects what a run did and said, in the engine's own words. Secret values never get in. */
export class Summary {
  readonly steps: ShownStep[] = [];
  readonly changes: RunResult["changes"] = {};
  readonly diagnostics: Diagnostic[] = [];
  private readonly lines: string[];
  private readonly started = Date.now();
  private readonly root: string;

  constructor(
    /** `Updating`. */
    title: string,
    place: Place,
    private readonly dryRun: boolean,
  ) {
    this.lines = [`${title} (${place.stack}):`, ""];
    this.root = rootUrn(place);
  }

  /** Without debugging: the SDK logs whole properties there, secrets in plain. */
  readonly report = (severity: Diagnostic["severity"], message: string, urn = ""): void => {
    if (severity !== "debug") this.diagnostics.push({ severity, message, ...(urn !== "" && { urn }) });
  };

  /** A step has ended well. */
  add(step: Step): void {
    const { op, urn, old, new: next } = step;
    if (isDefaultProvider(urn)) return;
    if (isCounted(step)) this.changes[op] = (this.changes[op] ?? 0) + 1;
    const type = typeOf(urn);
    const changes = old && next && op !== "same" ? changesOf(step, old, next) : [];
    const diff = old && next ? shortDiff(changes, metadata(op, old, next), step.changedKeys ?? []) : [];
    const id = next?.id || old?.id;
    if (type !== ROOT_STACK && !isProvider(type))
      this.steps.push({
        op,
        urn,
        type,
        name: nameOf(urn),
        ...(id && { id }),
        diff,
        ...(next?.outputs && { outputs: shown(next.outputs) }),
      });
    if (op === "same" && diff.length === 0) return;
    this.addLine(step, wordsOf(op)[this.dryRun ? 1 : 2], diff);
    // The creation that belongs to a replacement shows the change; the replacement itself is only its headline.
    if (op === "create" || op === "import") this.lines.push(...inputLines(next?.inputs ?? {}));
    else if (op !== "replace")
      this.lines.push(
        ...changeLines(
          changes.filter(({ path }) => !isInternal(path[0])),
          0,
          "      ",
        ),
      );
  }

  addFailure(step: Step): void {
    if (!isDefaultProvider(step.urn)) this.addLine(step, `**${wordsOf(step.op)[3]}**`, []);
  }

  private addLine({ op, urn }: Step, words: string, diff: string[]): void {
    const keys = (sign: string) => diff.filter((key) => key.startsWith(sign)).map((key) => key.slice(1));
    const signed = Object.values(SIGNS).map((sign) =>
      keys(sign).length > 0 ? sign + keys(sign).join(",") : "",
    );
    const parts = [
      ` ${wordsOf(op)[0]}`,
      typeOf(urn),
      nameOf(urn),
      words,
      diff.length > 0 ? `[diff: ${signed.join("")}]` : "",
    ];
    this.lines.push(parts.filter((part) => part !== "").join(" "));
  }

  /** What a terminal would have shown: the steps, diagnostics by resource, outputs, the counts. */
  text(olds: Props, outputs: Props): string {
    const lines = [...this.lines, ...this.diagnosticLines(), ...outputLines(olds, outputs), "Resources:"];
    const counted = COUNTED.filter((op) => (this.changes[op] ?? 0) > 0);
    for (const op of counted) {
      const [prefix, , done] = wordsOf(op);
      lines.push(`    ${prefix}${this.changes[op]} ${this.dryRun ? `to ${op}` : done}`);
    }
    const total = counted.reduce((sum, op) => sum + (this.changes[op] ?? 0), 0);
    const pieces = [
      ...(counted.length > 1 ? [`${total} changes`] : []),
      ...(this.changes.same ? [`${this.changes.same} unchanged`] : []),
    ];
    if (pieces.length > 0) lines.push(`    ${pieces.join(". ")}`);
    const errors = this.diagnostics.filter(({ severity }) => severity === "error");
    const failed = new Set(errors.map(({ urn = this.root }) => urn)).size;
    if (failed > 0) lines.push(`    ${failed} errored`);
    if (!this.dryRun) lines.push("", `Duration: ${Math.ceil((Date.now() - this.started) / 1000)}s`);
    return `${lines.join("\n")}\n`;
  }

  private diagnosticLines(): string[] {
    if (this.diagnostics.length === 0) return [];
    const lines = ["Diagnostics:"];
    for (const about of new Set(this.diagnostics.map(({ urn = this.root }) => urn))) {
      lines.push(`  ${typeOf(about)} (${nameOf(about)}):`);
      for (const { severity, message } of this.diagnostics.filter(({ urn = this.root }) => urn === about)) {
        const text = `${severity === "info" ? "" : `${severity}: `}${message.trimEnd()}`;
        lines.push(...text.split("\n").map((line) => `    ${line}`));
      }
      lines.push("");
    }
    return lines;
  }
}

/** A read counts only where it found something else than before. */
function isCounted({ op, old, new: next, logical }: Step): boolean {
  if (op !== "read") return logical;
  return old !== undefined && changesBetween(old.outputs ?? {}, next?.outputs ?? {}).length > 0;
}

/** The differences that the step itself names, else those of the inputs. */
function changesOf({ detailed }: Step, old: ResourceState, next: ResourceState): Change[] {
  const sides = [old, next].map(({ inputs, outputs = {} }) => ({
    inputs: maskedProps(inputs),
    outputs: maskedProps(outputs),
  })) as [{ inputs: Props; outputs: Props }, { inputs: Props; outputs: Props }];
  if (detailed) return withValues(detailed, ...sides);
  return changesBetween(sides[0].inputs, sides[1].inputs).filter(({ path }) => !isInternal(path[0]));
}

/** Of an unchanged resource only a change of its protection is worth a line. */
function metadata(op: StepOp, old: ResourceState, next: ResourceState): string[] {
  const isProtected = old.protect !== next.protect;
  const isServed = old.provider !== next.provider && (op !== "same" || isProtected);
  return [...(isServed ? ["provider"] : []), ...(isProtected ? ["protect"] : [])];
}

function inline(value: unknown): string {
  if (value === UNKNOWN) return "[unknown]";
  if (isSecret(value)) return "[secret]";
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (!isProps(value)) return JSON.stringify(plain({ value })["value"] ?? null);
  const entries = Object.entries(value).filter(([key]) => !isInternal(key));
  return `{${entries.map(([key, item]) => `${key}: ${inline(item)}`).join(", ")}}`;
}

/** The inputs of something new. */
function inputLines(inputs: Props): string[] {
  const keys = Object.keys(inputs).filter((key) => !isInternal(key));
  return keys.sort().map((key) => `      ${key}: ${inline(inputs[key])}`);
}

/** The changes as a tree: what they have in common once, with what is inside indented below. */
function changeLines(changes: Change[], depth: number, indent: string): string[] {
  return [...new Set(changes.map(({ path }) => path[depth]))].flatMap((key) => {
    const inside = changes.filter(({ path }) => path[depth] === key);
    const label = typeof key === "number" ? `[${key}]` : String(key);
    const leaf = inside.find(({ path }) => path.length === depth + 1);
    if (!leaf) return [`${indent}~ ${label}:`, ...changeLines(inside, depth + 1, `${indent}    `)];
    const isUpdate = leaf.kind === "update";
    const value = isUpdate ? `${inline(leaf.old)} => ${inline(leaf.new)}` : inline(leaf.old ?? leaf.new);
    return [`${indent}${SIGNS[leaf.kind]} ${label}: ${value}`];
  });
}

/** The stack's outputs, as they were and as they are. */
function outputLines(olds: Props, outputs: Props): string[] {
  const keys = [...new Set([...Object.keys(olds), ...Object.keys(outputs)])].sort();
  if (keys.length === 0) return [];
  const isNew = Object.keys(olds).length === 0;
  const lines = keys.map((key) => {
    const [from, to] = [olds[key], outputs[key]];
    if (isNew || changesBetween(masked(from), masked(to)).length === 0) return `    ${key}: ${inline(to)}`;
    if (from === undefined) return `  + ${key}: ${inline(to)}`;
    return to === undefined ? `  - ${key}: ${inline(from)}` : `  ~ ${key}: ${inline(from)} => ${inline(to)}`;
  });
  return ["Outputs:", ...lines, ""];
}
