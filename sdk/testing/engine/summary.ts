import { UNKNOWN } from "../../../provider/endpoint/documents";
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
import { isProps, isSecret, maskedProps, type Props, plain, shown } from "./properties";
import {
  type Change,
  changesBetween,
  isInternal,
  type PropertyDiff,
  SIGNS,
  shortDiff,
  withValues,
} from "./propertyDiff";

/** One operation on one resource. */
export interface Step {
  op: StepOp;
  urn: string;
  old?: ResourceState;
  new?: ResourceState;
  /** The changed top-level properties, from the diff. */
  changedKeys?: string[];
  /** The changed properties, if the provider lists them. */
  detailed?: PropertyDiff[] | undefined;
  /** A creation or an import after which the old resource is deleted. */
  pendingDelete?: boolean;
  /** Replies to the program. Not called if the step fails. */
  done?: (state: ResourceState) => void;
}

/** The sign and the words of each operation in Pulumi's display. */
const OPS: Record<string, [sign: string, toDo: string, done: string]> = {
  same: ["  ", "", ""],
  create: ["+ ", "create", "created"],
  delete: ["- ", "delete", "deleted"],
  update: ["~ ", "update", "updated"],
  replace: ["+-", "replace", "replaced"],
  "create-replacement": ["++", "create replacement", "created replacement"],
  "delete-replaced": ["--", "delete original", "deleted original"],
  read: ["> ", "read", "read"],
  "read-replacement": [">>", "read for replacement", "read for replacement"],
  refresh: ["~ ", "refresh", "refreshed"],
  discard: ["< ", "discard", "discarded"],
  "discard-replaced": ["<<", "discard original", "discarded original"],
  import: ["= ", "import", "imported"],
  "import-replacement": ["=>", "import replacement", "imported replacement"],
};

/** Collects the steps and messages of a run, without secret values. */
export class Summary {
  readonly steps: ShownStep[] = [];
  readonly changes: RunResult["changes"] = {};
  readonly diagnostics: Diagnostic[] = [];
  private readonly lines: string[];
  private readonly root: string;

  constructor(
    /** Such as `Updating`. */
    title: string,
    place: Place,
    private readonly dryRun: boolean,
  ) {
    this.lines = [`${title} (${place.stack}):`, ""];
    this.root = rootUrn(place);
  }

  /** Ignores debug messages, because the SDK logs secrets in plain text in them. */
  readonly report = (severity: Diagnostic["severity"], message: string, urn = ""): void => {
    if (severity !== "debug") this.diagnostics.push({ severity, message, ...(urn !== "" && { urn }) });
  };

  /** Adds a step that succeeded. */
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
    this.addLine(step, OPS[op]?.[this.dryRun ? 1 : 2] ?? op, diff);
    // The changes of a replacement are shown with its creation.
    const isNew = op === "create" || op === "import";
    const shownChanges = isNew ? changesBetween({}, maskedProps(next?.inputs ?? {})) : changes;
    if (op !== "replace") this.lines.push(...changeLines(shownChanges));
  }

  addFailure(step: Step): void {
    if (!isDefaultProvider(step.urn)) this.addLine(step, `**${OPS[step.op]?.[1]} failed**`, []);
  }

  private addLine({ op, urn }: Step, words: string, diff: string[]): void {
    const parts = [` ${OPS[op]?.[0] ?? ""}`, typeOf(urn), nameOf(urn), words];
    if (diff.length > 0) parts.push(`[diff: ${diff.join(",")}]`);
    this.lines.push(parts.filter((part) => part !== "").join(" "));
  }

  /** The text for a terminal: the steps, the diagnostics by resource, the outputs and the counts. */
  text(olds: Props, outputs: Props): string {
    const lines = [...this.lines, ...this.diagnosticLines()];
    const changed = changesBetween(maskedProps(olds), maskedProps(outputs));
    if (changed.length > 0) lines.push("Outputs:", ...changeLines(changed), "");
    lines.push("Resources:");
    for (const [op, count] of Object.entries(this.changes))
      if (op !== "same" && op !== "read")
        lines.push(`    ${OPS[op]?.[0]}${count} ${this.dryRun ? `to ${op}` : OPS[op]?.[2]}`);
    if (this.changes.same) lines.push(`    ${this.changes.same} unchanged`);
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

/** A read counts only if its outputs have changed. A replacement counts once, with its step `replace`. */
function isCounted({ op, old, new: next }: Step): boolean {
  if (op !== "read") return !/-(replaced|replacement)$/.test(op);
  return old !== undefined && changesBetween(old.outputs ?? {}, next?.outputs ?? {}).length > 0;
}

/** The changes that the provider lists, or else the differences of the inputs. */
function changesOf({ detailed }: Step, old: ResourceState, next: ResourceState): Change[] {
  const [from, to] = [maskedSides(old), maskedSides(next)];
  if (detailed) return withValues(detailed, from, to);
  return changesBetween(from.inputs, to.inputs).filter(({ path }) => !isInternal(path[0]));
}

const maskedSides = ({ inputs, outputs = {} }: ResourceState) => ({
  inputs: maskedProps(inputs),
  outputs: maskedProps(outputs),
});

/** The changed options. For an unchanged resource, a change of the provider is shown only with one of the protection. */
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

/** One line for each change. Changes inside a property are indented below its name. */
function changeLines(changes: Change[], depth = 0): string[] {
  const indent = `      ${"    ".repeat(depth)}`;
  const keys = new Set(changes.map(({ path }) => path[depth]).filter((key) => !isInternal(key)));
  return [...keys].flatMap((key) => {
    const inside = changes.filter(({ path }) => path[depth] === key);
    const label = typeof key === "number" ? `[${key}]` : String(key);
    const leaf = inside.find(({ path }) => path.length === depth + 1);
    if (!leaf) return [`${indent}~ ${label}:`, ...changeLines(inside, depth + 1)];
    const { kind, old, new: now } = leaf;
    const value = kind === "update" ? `${inline(old)} => ${inline(now)}` : inline(old ?? now);
    return [`${indent}${SIGNS[kind]} ${label}: ${value}`];
  });
}
