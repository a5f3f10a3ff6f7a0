import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Emulator } from "../../../sdk/testing";

/** Parts of the secrets of the accounts that the tests adopt. */
export const CANARIES = /CANARY|CNRY|77001122|bob: "ab"/;

/** A project for a program in TypeScript. */
export function makeTypeScript(folder: string): void {
  writeFileSync(join(folder, "Pulumi.yaml"), "name: case\nruntime: nodejs\n");
  writeFileSync(join(folder, "package.json"), '{"name": "case", "main": "index.ts"}\n');
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true },
    ...{ noUnusedLocals: true },
    ...{ target: "es2022", module: "node16", skipLibCheck: true, types: ["node"] },
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["index.ts"] }));
}

export const writes = (emulator: Emulator) => emulator.requests.filter(({ method }) => method !== "GET");
