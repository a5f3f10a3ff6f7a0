import { readFile } from "node:fs/promises";
import { nameOf } from "./engine/checkpoint";
import { shown } from "./engine/properties";
import type { Diagnostic, RunResult, Step, StepOp } from "./types";

/** The parts of the engine's events that are read here (`apitype.EngineEvent`). */
interface EngineEvent {
  resOutputsEvent?: { metadata: StepMetadata };
  diagnosticEvent?: DiagnosticEvent;
  summaryEvent?: { resourceChanges?: Partial<Record<StepOp, number>> };
}

interface DiagnosticEvent {
  urn?: string;
  message: string;
  severity: string;
  ephemeral?: boolean;
}

interface StepMetadata {
  op: StepOp;
  urn: string;
  type: string;
  old?: { id?: string } | null;
  new?: { id?: string; outputs?: Record<string, unknown> } | null;
}

type Reported = Pick<RunResult, "steps" | "changes" | "diagnostics">;

/** Reads the event log of a finished run. The diffs of the steps come from the output for the terminal. */
export async function readEvents(file: string, text: string): Promise<Reported> {
  const lines = (await readFile(file, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
  const steps = new Map<string, StepMetadata>();
  const diagnostics: Diagnostic[] = [];
  let changes: RunResult["changes"] = {};
  let hasEnded = false;
  for (const event of lines.map((line) => JSON.parse(line) as EngineEvent)) {
    // An `up` also logs its preview. A summary ends each of the two, and the last one counts.
    if (event.summaryEvent) {
      changes = event.summaryEvent.resourceChanges ?? {};
      hasEnded = true;
    }
    // The log also has the engine's debug messages, which a terminal does not show.
    const diagnostic = event.diagnosticEvent;
    if (diagnostic && !diagnostic.ephemeral && diagnostic.severity !== "debug")
      diagnostics.push(diagnosticOf(diagnostic));
    const metadata = event.resOutputsEvent?.metadata;
    if (!metadata || !isUsers(metadata.type)) continue;
    if (hasEnded) steps.clear();
    hasEnded = false;
    // A preview reports a component twice: at its registration, and with its outputs.
    const key = `${metadata.op} ${metadata.urn} ${idOf(metadata)}`;
    if (!steps.has(key)) steps.set(key, metadata);
  }
  return { steps: [...steps.values()].map((metadata) => stepOf(metadata, text)), changes, diagnostics };
}

const isUsers = (type: string) => type !== "pulumi:pulumi:Stack" && !type.startsWith("pulumi:providers:");

function stepOf(metadata: StepMetadata, text: string): Step {
  const { op, urn, type, new: fresh } = metadata;
  const name = nameOf(urn);
  const id = idOf(metadata);
  // The line of a replaced resource's deletion repeats the replacement's diff, and the change after an import is another step.
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

function diagnosticOf({ urn, message, severity }: DiagnosticEvent): Diagnostic {
  const plain = message.replace(/<\{%[^%]*%\}>/g, "").trim();
  const kind = severity.startsWith("info") ? "info" : (severity as Diagnostic["severity"]);
  return { severity: kind, message: plain, ...(urn && { urn }) };
}
