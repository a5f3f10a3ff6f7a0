// Installs the packed file with every package manager. This takes minutes and needs the network:
//   npm run test:installs [-- -t "pnpm"]
import { spawnSync } from "node:child_process";

const { status } = spawnSync(
  "npx",
  ["vitest", "run", "test/package/installs.test.ts", ...process.argv.slice(2)],
  { env: { ...process.env, INSTALLS: "all" }, stdio: "inherit" },
);
process.exitCode = status ?? 1;
