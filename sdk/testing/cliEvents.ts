import { readFile } from "node:fs/promises";
import type { Diagnostic, RunResult, Step, StepOp } from "./types";

/** What the engine writes into its event log, as far as the kit reads it (`apitype.EngineEvent`). */
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
  new?: { id?: string } | null;
}

/** The steps in the order in which they ended; what each changes is read from the words that a user sees. */
export async function readEvents(
  file: string,
  shown: string,
): Promise<Pick<RunResult, "steps" | "changes" | "diagnostics">> {
  const lines = (await readFile(file, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
  const steps = new Map<string, Step>();
  const diagnostics: Diagnostic[] = [];
  let changes: RunResult["changes"] = {};
  let ended = false;
  for (const line of lines) {
    const event = JSON.parse(line) as EngineEvent;
    // An `up` shows its preview first, and a summary ends each of the two; the last one counts.
    if (event.summaryEvent) {
      changes = event.summaryEvent.resourceChanges ?? {};
      ended = true;
    }
    if (event.diagnosticEvent && isForUsers(event.diagnosticEvent))
      diagnostics.push(diagnosticOf(event.diagnosticEvent));
    const metadata = event.resOutputsEvent?.metadata;
    if (!metadata || !isUsers(metadata.type)) continue;
    if (ended) steps.clear();
    ended = false;
    // A preview tells of a component twice: when it is registered, and when its outputs are.
    const step = stepOf(metadata, shown);
    const key = `${step.op} ${step.urn} ${step.id}`;
    if (!steps.has(key)) steps.set(key, step);
  }
  return { steps: [...steps.values()], changes, diagnostics };
}

/** The log holds the engine's own debugging too, which no terminal shows unasked. */
const isForUsers = (event: { severity: string; ephemeral?: boolean }) =>
  !event.ephemeral && event.severity !== "debug";

const isUsers = (type: string) => type !== "pulumi:pulumi:Stack" && !type.startsWith("pulumi:providers:");

function stepOf({ op, urn, type, old, new: fresh }: StepMetadata, shown: string): Step {
  const name = urn.slice(urn.lastIndexOf("::") + 2);
  const id = fresh?.id || old?.id;
  // The line of a deletion repeats what was printed for the replacement that it belongs to, and an import takes over
  // what is there: the change that follows it is a step of its own.
  const hasNone = /^(delete|discard|import)/.test(op);
  const line = shown
    .split("\n")
    .findLast((text) => text.includes(` ${type} ${name} `) && text.includes("[diff: "));
  const diff = hasNone ? undefined : /\[diff: ([^\]]*)\]/.exec(line ?? "")?.[1]?.split(",");
  return { op, urn, type, name, ...(id && { id }), diff: withSigns(diff ?? []) };
}

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
