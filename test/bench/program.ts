import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Contestant } from "./cells";
import { NOOP_PACKAGE } from "./contestants/noop";

/** Beside the compiled benchmark, within the repository, so that the program finds the package as a user's does. */
const ROOT = join(__dirname, "programs");

/** A contestant's Pulumi program, in a folder of its own. Plain JavaScript, so that no compiler is measured. */
export class Program {
  readonly folder: string;

  constructor(private readonly contestant: Contestant) {
    mkdirSync(ROOT, { recursive: true });
    this.folder = mkdtempSync(join(ROOT, `${contestant}-`));
    this.file("Pulumi.yaml", "name: bench\nruntime:\n  name: nodejs\n  options:\n    typescript: false\n");
    this.file("package.json", '{"name": "bench", "main": "index.js"}\n');
    if (contestant === "noop") this.installNoop();
  }

  /** With `changed`, one endpoint in ten is another than without. */
  declare(size: number, changed: boolean): void {
    const contestant = join(__dirname, "contestants", this.contestant);
    this.file("index.js", `require(${JSON.stringify(contestant)}).declare(${size}, ${changed});\n`);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The provider's process finds a package only in `node_modules`, as it finds ours. */
  private installNoop(): void {
    mkdirSync(join(this.folder, "node_modules", NOOP_PACKAGE), { recursive: true });
    const provider = JSON.stringify(join(__dirname, "contestants", "noopProvider"));
    this.file(
      `node_modules/${NOOP_PACKAGE}/provider.js`,
      `module.exports = require(${provider}).provider;\n`,
    );
  }

  private file(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }
}
