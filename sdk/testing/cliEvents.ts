import { readFile } from "node:fs/promises";
import { nameOf } from "./engine/checkpoint";
import { shown } from "./engine/properties";
import type { Diagnostic, RunResult, Step, StepOp } from "./types";

/** What is read here of the engine's events (`apitype.EngineEvent`). */
interface EngineEvent {
  resOutputsEvent?: { metadata: StepMetadata };
  diagnosticEvent?: { urn?: string; message: string; severity: string; ephemeral?: boolean };
  summaryEvent?: { resourceChanges?: Partial<Record<StepOp, number>> };
}

interface StepMetadata {
  op: StepOp;
  urn: string;
  type: string;
  old?: { id?: string } | null;
  new?: { id?: string; outputs?: Record<string, unknown> } | null;
}

type Reported = Pick<RunResult, "steps" | "changes" | "diagnostics">;

/** Reads the log of a run that has ended. */
export async function readEvents(file: string, text: string): Promise<Reported> {
  const lines = (await readFile(file, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
  const events = new EngineEvents();
  for (const line of lines) events.add(JSON.parse(line) as EngineEvent);
  return events.report(text);
}

/** Takes the events of a run one after the other. */
class EngineEvents {
  private readonly steps = new Map<string, StepMetadata>();
  private readonly diagnostics: Diagnostic[] = [];
  private changes: RunResult["changes"] = {};
  private ended = false;

  add(event: EngineEvent): void {
    // An `up` shows its preview first, and a summary ends each of the two; the last one counts.
    if (event.summaryEvent) {
      this.changes = event.summaryEvent.resourceChanges ?? {};
      this.ended = true;
    }
    if (event.diagnosticEvent && isForUsers(event.diagnosticEvent))
      this.diagnostics.push(diagnosticOf(event.diagnosticEvent));
    const metadata = event.resOutputsEvent?.metadata;
    if (!metadata || !isUsers(metadata.type)) return;
    if (this.ended) this.steps.clear();
    this.ended = false;
    // A preview reports a component twice: when it is registered, and when its outputs are.
    const key = `${metadata.op} ${metadata.urn} ${idOf(metadata)}`;
    if (!this.steps.has(key)) this.steps.set(key, metadata);
  }

  /** The steps in the order in which they ended. The diff of each is read from the text that a user sees. */
  report(text: string): Reported {
    const steps = [...this.steps.values()].map((metadata) => stepOf(metadata, text));
    return { steps, changes: this.changes, diagnostics: this.diagnostics };
  }
}

/** The log holds the engine's own debugging too, which no terminal shows unasked. */
const isForUsers = (event: { severity: string; ephemeral?: boolean }) =>
  !event.ephemeral && event.severity !== "debug";

const isUsers = (type: string) => type !== "pulumi:pulumi:Stack" && !type.startsWith("pulumi:providers:");

function stepOf(metadata: StepMetadata, text: string): Step {
  const { op, urn, type, new: fresh } = metadata;
  const name = nameOf(urn);
  const id = idOf(metadata);
  // The line of a deletion repeats what was printed for the replacement that it belongs to, and an import takes over
  // what is there: the change that follows it is a step of its own.
  const hasNone = /^(delete|discard|import)/.test(op);
  const line = text
    .split("\n")
    .findLast((each) => each.includes(` ${type} ${name} `) && each.includes("[diff: "));
  const diff = hasNone ? undefined : /\[diff: ([^\]]*)\]/.exec(line ?? "")?.[1]?.split(",");
  return {
    op,
    urn,
    type,
    name,
    ...(id && { id }),
    diff: withSigns(diff ?? []),
    ...(fresh?.outputs && { outputs: shown(fresh.outputs) }),
  };
}

const idOf = ({ old, new: fresh }: StepMetadata) => fresh?.id || old?.id;

/** The CLI writes a sign once for all properties that share it: `+a,b~c`. */
function withSigns(parts: string[]): string[] {
  let sign = "~";
  return parts
    .flatMap((part) => part.split(/(?=[+\-~])/))
    .map((part) => {
      const own = /^[+\-~]/.exec(part)?.[0];
      sign = own ?? sign;
      return own ? part : sign + part;
    });
}

function diagnosticOf({
  urn,
  message,
  severity,
}: {
  urn?: string;
  message: string;
  severity: string;
}): Diagnostic {
  const plain = message.replace(/<\{%[^%]*%\}>/g, "").trim();
  const kind = severity.startsWith("info") ? "info" : (severity as Diagnostic["severity"]);
  return { severity: kind, message: plain, ...(urn && { urn }) };
}
