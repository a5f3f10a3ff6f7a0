import { UserError } from "../../../provider/api/userError";

/** Something was to begin after the command had been stopped. */
export class InterruptedError extends UserError {
  override readonly name = "InterruptedError";
}

export const interrupted = () => new InterruptedError("it was interrupted");

/** What the work of the command has around it. */
export interface Around {
  /** Takes what a person who waits should know. */
  tell(message: string): void;
  /** Nothing is to begin any more. */
  stopped: AbortSignal;
}

/**
 * What the first Ctrl-C, or a pipeline that is cancelled, does: Pulumi ends what it has begun and writes its state, nothing
 * more begins, and the report tells what was not seen. The second one ends this process at once.
 */
export interface Interruption {
  /** Nothing is to begin any more. */
  stopped: AbortSignal;
  /** Pulumi has to be told, since the signal did not reach it. */
  forward: AbortSignal;
  forget(): void;
}

/** As a shell gives it for a command that Ctrl-C has ended. */
const INTERRUPTED = 130;

export function awaitInterruption(tell: (message: string) => void): Interruption {
  const stopped = new AbortController();
  const forward = new AbortController();
  const forget = () => {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.removeListener(name, onSignal);
  };
  const onSignal = (name: NodeJS.Signals) => {
    // The listener stays until then: without one of ours, the library that runs Pulumi ends it and this process.
    if (stopped.signal.aborted) process.exit(INTERRUPTED);
    tell("interrupted: waiting until Pulumi has ended what it began; once more ends everything at once");
    stopped.abort();
    // A terminal gives Ctrl-C to both, and for Pulumi a second one drops what is under way.
    if (name !== "SIGINT" || process.stdin.isTTY !== true) forward.abort();
  };
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, onSignal);
  return { stopped: stopped.signal, forward: forward.signal, forget };
}
