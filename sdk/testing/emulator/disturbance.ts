import { drawFault, type FaultKind, faultKinds } from "./faults";
import { Random } from "./random";
import { type Match, matches, type Plan, type Target } from "./script";

export interface DisturbOptions {
  /** The same seed and the same sequence of requests give the same faults. 32 bits of it count. */
  seed: number;
  /** How likely a matching request is hit, from 0 to 1. */
  probability: number;
  /** The kinds to draw from, all as likely; one that does not apply to a request is not drawn for it. Default: `faultKinds`. */
  kinds?: readonly FaultKind[];
  /** Default: every request matches. */
  match?: Match;
  /** Most faults in all. Default: no bound. */
  most?: number;
}

/** What was done to a request. */
export interface RecordedFault {
  kind: FaultKind;
  method: string;
  path: string;
  /** Whether the request took effect. */
  committed: boolean;
}

/** Draws faults for requests. One disturbance is on at a time; the log is of all. */
export class Disturbances {
  readonly log: RecordedFault[] = [];
  private current:
    | { options: DisturbOptions; random: Random; repeated: Set<string>; left: number }
    | undefined;

  begin(options: DisturbOptions): void {
    const { seed, probability, most: left = Number.POSITIVE_INFINITY } = options;
    if (!(probability >= 0 && probability <= 1)) {
      throw new RangeError(`probability must be from 0 to 1, not ${probability}`);
    }
    this.current = { options, random: new Random(seed), repeated: new Set(), left };
  }

  end(): void {
    this.current = undefined;
  }

  draw(target: Omit<Target, "random" | "repeated">): Plan | undefined {
    if (!this.current || this.current.left <= 0) return undefined;
    const { options, random, repeated } = this.current;
    const { probability, kinds = faultKinds, match = () => true } = options;
    if (!matches(match, target.record) || random.next() >= probability) return undefined;
    const fault = drawFault(kinds, { ...target, random, repeated });
    if (!fault) return undefined;
    this.current.left -= 1;
    const { method, path } = target.record;
    const recorded = { kind: fault.kind, method, path, committed: false };
    this.log.push(recorded);
    const onEffect = (committed: boolean) => {
      recorded.committed = committed;
    };
    return { ...fault.plan, onEffect };
  }
}
