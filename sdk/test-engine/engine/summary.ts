import { UNKNOWN } from "../../../provider/pulumi/sentinels";
import { formatPath, isProps, isSecret, type Props, plain } from "../../pulumi-cli/index";
import { maskedData, maskedProps } from "../properties";
import type { Diagnostic, RunResult, Step, StepOp } from "../types";
import {
  isDefaultProvider,
  isUserResource,
  nameInUrn,
  type PendingType,
  type ResourceState,
  rootUrn,
  typeInUrn,
  type UrnScope,
} from "./checkpoint";
import {
  isInternal,
  type PropertyDiff,
  SIGNS,
  shortDiff,
  type ValueChange,
  valueChanges,
} from "./propertyDiff";

/** The operations that this engine performs. The CLI has some more. */
type PlannedOp = Exclude<StepOp, "read-replacement" | "import-replacement" | "discard-replaced">;

/** One operation on one resource. */
export interface PlannedStep {
  op: PlannedOp;
  urn: string;
  old?: ResourceState;
  new?: ResourceState;
  /** The changed top-level properties, from the diff. */
  changedKeys?: string[];
  /** The changed properties, if the provider lists them. */
  detailed?: PropertyDiff[] | undefined;
  /** Whether the old resource is deleted after this creation. */
  pendingDelete?: boolean;
}

/** The sign and the words of each operation in Pulumi's display, and the operation's type in the state while it runs. */
export const OPS: Record<PlannedOp, [sign: string, toDo: string, done: string, pending?: PendingType]> = {
  same: ["  ", "", ""],
  create: ["+ ", "create", "created", "creating"],
  delete: ["- ", "delete", "deleted", "deleting"],
  update: ["~ ", "update", "updated", "updating"],
  replace: ["+-", "replace", "replaced"],
  "create-replacement": ["++", "create replacement", "created replacement", "creating"],
  "delete-replaced": ["--", "delete original", "deleted original", "deleting"],
  read: ["> ", "read", "read", "reading"],
  refresh: ["~ ", "refresh", "refreshed"],
  discard: ["< ", "discard", "discarded", "deleting"],
  import: ["= ", "import", "imported", "importing"],
  "remove-pending-replace": ["~ ", "", ""],
};

/** A step as results report it. */
export function reportedStep(
  op: StepOp,
  urn: string,
  id: string | undefined,
  diff: string[],
  outputs?: Props,
): Step {
  const step = { op, urn, type: typeInUrn(urn), name: nameInUrn(urn), ...(id && { id }), diff };
  return { ...step, ...(outputs && { outputs: maskedData(outputs) }) };
}

/** Collects the steps and messages of a run, without secret values. */
export class Summary {
  readonly steps: Step[] = [];
  readonly changes: RunResult["changes"] = {};
  readonly diagnostics: Diagnostic[] = [];
  private readonly lines: string[];
  private readonly root: string;

  constructor(
    title: string,
    scope: UrnScope,
    private readonly dryRun: boolean,
  ) {
    this.lines = [`${title} (${scope.stack}):`, ""];
    this.root = rootUrn(scope);
  }

  /** Ignores debug messages, because the SDK logs secrets in plain text in them. */
  readonly report = (severity: Diagnostic["severity"], message: string, urn = ""): void => {
    if (severity !== "debug") this.diagnostics.push({ severity, message, ...(urn !== "" && { urn }) });
  };

  add(step: PlannedStep): void {
    const { op, urn, old, new: next } = step;
    if (isDefaultProvider(urn)) return;
    if (isCounted(step)) this.changes[op] = (this.changes[op] ?? 0) + 1;
    const changes = old && next && op !== "same" ? inputChanges(old, next) : [];
    const named = step.detailed ?? changes.filter(({ path }) => !isInternal(path[0]));
    const diff =
      old && next
        ? shortDiff(op === "same" ? [] : named, changedOptions(op, old, next), step.changedKeys ?? [])
        : [];
    if (isUserResource(urn)) this.steps.push(reportedStep(op, urn, next?.id || old?.id, diff, next?.outputs));
    if (op === "same" && diff.length === 0) return;
    this.addLine(step, OPS[op][this.dryRun ? 1 : 2], diff);
    // The changes of a replacement are shown with its creation.
    const isNew = op === "create" || op === "import";
    const shownChanges = isNew ? valueChanges({}, maskedProps(next?.inputs ?? {})) : changes;
    if (op !== "replace") this.lines.push(...changeLines(shownChanges));
  }

  addFailure(step: PlannedStep): void {
    if (!isDefaultProvider(step.urn)) this.addLine(step, `**${OPS[step.op][1]} failed**`, []);
  }

  private addLine({ op, urn }: PlannedStep, words: string, diff: string[]): void {
    const parts = [` ${OPS[op][0]}`, typeInUrn(urn), nameInUrn(urn), words];
    if (diff.length > 0) parts.push(`[diff: ${diff.join(",")}]`);
    this.lines.push(parts.filter((part) => part !== "").join(" "));
  }

  /** The text for a terminal: the steps, the diagnostics by resource, the outputs and the counts. */
  text(olds: Props, outputs: Props): string {
    const lines = [...this.lines, ...this.diagnosticLines()];
    const changed = valueChanges(maskedProps(olds), maskedProps(outputs));
    if (changed.length > 0) lines.push("Outputs:", ...changeLines(changed), "");
    lines.push("Resources:");
    for (const [op, count] of Object.entries(this.changes) as [PlannedOp, number][])
      if (op !== "same" && op !== "read")
        lines.push(`    ${OPS[op][0]}${count} ${this.dryRun ? `to ${op}` : OPS[op][2]}`);
    if (this.changes.same) lines.push(`    ${this.changes.same} unchanged`);
    return `${lines.join("\n")}\n`;
  }

  private diagnosticLines(): string[] {
    if (this.diagnostics.length === 0) return [];
    const lines = this.diagnostics.map(({ severity, message, urn = this.root }) => {
      const whole = `${severity === "info" ? "" : `${severity}: `}${message.trimEnd()}`;
      return `  ${typeInUrn(urn)} (${nameInUrn(urn)}): ${whole.replaceAll("\n", "\n    ")}`;
    });
    return ["Diagnostics:", ...lines, ""];
  }
}

/** A read counts only if its outputs have changed. A replacement counts once, with its step `replace`. */
function isCounted({ op, old, new: next }: PlannedStep): boolean {
  if (op !== "read") return !/-(replace|replaced|replacement)$/.test(op);
  return old !== undefined && valueChanges(old.outputs ?? {}, next?.outputs ?? {}).length > 0;
}

const inputChanges = (old: ResourceState, next: ResourceState): ValueChange[] =>
  valueChanges(maskedProps(old.inputs), maskedProps(next.inputs));

/** The changed options to show. For an unchanged resource, the provider is shown only if the protection changes, too. */
function changedOptions(op: PlannedOp, old: ResourceState, next: ResourceState): string[] {
  const isProtected = old.protect !== next.protect;
  const isServed = old.provider !== next.provider && (op !== "same" || isProtected);
  return [...(isServed ? ["provider"] : []), ...(isProtected ? ["protect"] : [])];
}

function inlineValue(value: unknown): string {
  if (value === UNKNOWN) return "[unknown]";
  if (isSecret(value)) return "[secret]";
  if (Array.isArray(value)) return `[${value.map(inlineValue).join(", ")}]`;
  if (!isProps(value)) return JSON.stringify(plain({ value })["value"] ?? null);
  const entries = Object.entries(value).filter(([key]) => !isInternal(key));
  return `{${entries.map(([key, item]) => `${key}: ${inlineValue(item)}`).join(", ")}}`;
}

const changeLines = (changes: ValueChange[]) =>
  changes
    .filter(({ path }) => !path.some(isInternal))
    .map(({ path, kind, old, new: now }) => {
      const value =
        kind === "update" ? `${inlineValue(old)} => ${inlineValue(now)}` : inlineValue(old ?? now);
      return `      ${SIGNS[kind]} ${formatPath(path)}: ${value}`;
    });
