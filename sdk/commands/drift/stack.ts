import type { ConfigReader } from "../../../provider/config";
import type { ExportedState, RunResult } from "../../testing/types";
import type { Interruption } from "./interruption";

/** What a run did and said, whether it ended well or not. */
export type Ran = Pick<RunResult, "ok" | "steps" | "diagnostics">;

/**
 * A stack as this command uses it. What runs it, Pulumi's CLI or the kit's engine, is not the command's affair: all that
 * is reported is made of the steps that both give.
 */
export interface DriftStack {
  readonly name: string;
  /** The stack's configuration, secrets included. */
  config(): Promise<ConfigReader>;
  /** The state, secrets in plain. */
  state(): Promise<ExportedState>;
  /** Reads what is live, and leaves the state as it is: `pulumi refresh --preview-only`. */
  look(progress: (done: number) => void): Promise<Ran>;
  /** What the program would change, all of it: `pulumi preview`. */
  plan(): Promise<Ran>;
  /** What `repair` would do, and whether it could: `pulumi preview --refresh --target`. Writes nothing. */
  rehearse(urns: string[]): Promise<Ran>;
  /** Takes what is live of these resources into the state, and runs the program for them: `pulumi up --refresh --target`. */
  repair(urns: string[]): Promise<Ran>;
}

/** Opens the stacks of the project in a folder; without names the one that is selected. */
export type OpenStacks = (
  folder: string,
  names: string[],
  interruption: Interruption,
) => Promise<DriftStack[]>;

/** What the run said of this resource that went wrong, in its own words; undefined where it said nothing. */
export function errorsOf({ diagnostics }: Ran, urn?: string): string | undefined {
  const errors = diagnostics.filter(
    (said) => said.severity === "error" && (urn === undefined || said.urn === urn),
  );
  // The engine and the provider's host may both have printed it.
  const told = [...new Set(errors.map(({ message }) => message.trim()))];
  return told.length > 0 ? told.join("; ") : undefined;
}
