#!/usr/bin/env node
import { commandLine } from "./commandLine";

commandLine(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`pulumi-endpoints: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  },
);
