import { drawFault, type FaultKind, faultKinds } from "./faults";
import { Random } from "./random";
import { type Handling, type Match, matches, type Target } from "./script";

export interface DisturbOptions {
  /** The seed, 32 bits. The same seed and the same sequence of requests give the same faults. */
  seed: number;
  /** The probability that a matching request gets a fault, from 0 to 1. */
  probability: number;
  /** The kinds of faults. Those that apply to a request are equally likely. Default: `faultKinds`. */
  kinds?: readonly FaultKind[];
  /** The requests that can get faults. Default: all. */
  match?: Match;
  /** The maximum number of faults. Default: no limit. */
  most?: number;
}

/** A fault that `disturb` injected. */
export interface RecordedFault {
  kind: FaultKind;
  method: string;
  path: string;
  /** Whether the request took effect. */
  committed: boolean;
}

/** Draws faults for requests. */
export class Disturbances {
  /** The faults of all calls of `begin`. */
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

  draw(target: Omit<Target, "random" | "repeated">): Handling | undefined {
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
    return { ...fault.handling, onEffect };
  }
}
