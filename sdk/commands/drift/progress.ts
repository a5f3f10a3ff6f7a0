import { visible } from "./shown";

/** What a terminal is known by. */
export interface Terminal {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

/** Says what is going on: on a terminal in one line that is written over, elsewhere and in CI in a line each. */
export class Progress {
  private last = "";

  constructor(
    private readonly out: Terminal,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  readonly tell = (message: string): void => {
    const line = visible(message);
    if (line === this.last) return;
    this.last = line;
    if (this.isLive) this.out.write(`\r\u001b[2K${line.slice(0, (this.out.columns ?? 80) - 1)}`);
    // A count that goes up would fill a log.
    else if (!/ compared \d+ of \d+$/.test(line)) this.out.write(`${line}\n`);
  };

  /** Leaves the line free for what comes next. */
  end(): void {
    if (this.isLive && this.last !== "") this.out.write("\r\u001b[2K");
    this.last = "";
  }

  private get isLive(): boolean {
    const { CI, TERM } = this.environment;
    return this.out.isTTY === true && TERM !== "dumb" && (CI === undefined || CI === "" || CI === "false");
  }
}
