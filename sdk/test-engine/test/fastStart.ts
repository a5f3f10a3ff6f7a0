import { join } from "node:path";

/** The environment with which the processes of programs and providers start faster. Tests compare engines, not Pulumi's loader. */
export const FAST_START = {
  NODE_OPTIONS: `--require ${JSON.stringify(join(import.meta.dirname, "programs/quick.cjs"))}`,
};
