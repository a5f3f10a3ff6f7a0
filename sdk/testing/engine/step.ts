import type { StepOp } from "../types";
import type { DetailedDiff } from "./detailedDiff";
import type { ResourceState } from "./resourceState";

/** One thing that is done to one resource. */
export interface Step {
  op: StepOp;
  urn: string;
  old?: ResourceState;
  new?: ResourceState;
  /** Counted in the summary. */
  logical: boolean;
  /** What the diff names as changed; empty where it names nothing. */
  changedKeys?: string[];
  /** Where the resource changes, if that is known better than by comparing its inputs. */
  detailed?: DetailedDiff;
  /** A deletion after which the resource is created again. */
  pendingReplacement?: boolean;
  /** A creation, or an import, before the deletion of the old resource. */
  pendingDelete?: boolean;
  /** An import by command: the properties that it names, and why it cannot be. */
  planned?: { properties: string[]; refusal?: string };
  /** Answers the program. Never called for a step that failed. */
  done?: (state: ResourceState) => void;
}

/** What is to be done for one registration; `afterwards` decides on, once these steps have gone well. */
export interface Plan {
  steps: Step[];
  afterwards?: () => Promise<Plan>;
}

/** The run ends here. What there is to say has been said, where `reported` is true. */
export class Bail extends Error {
  override readonly name = "Bail";
  constructor(
    message: string,
    readonly reported = true,
  ) {
    super(message);
  }
}
