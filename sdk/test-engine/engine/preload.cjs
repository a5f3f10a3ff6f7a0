"use strict";
/* Loaded first in each program and each provider, so that no test waits for a process that hangs. */
const util = require("node:util");

/**
 * On Node 20 `util.inspect(error, {colors: true})` is extremely slow for certain stack lines. A program that throws would
 * take half a minute to end, as it does with the Pulumi CLI.
 */
const { inspect } = util;
const withoutColors = (value, options, ...rest) =>
  inspect(value, options && typeof options === "object" ? { ...options, colors: false } : options, ...rest);
util.inspect = Object.assign(withoutColors, inspect);

/**
 * Ends the process after its parent has ended. A program without an engine would report errors forever. A provider gets a
 * minute, because tests observe providers without an engine.
 */
const parent = process.ppid;
const isProgram = /@pulumi.pulumi.cmd.run.index\.js$/.test(process.argv[1] ?? "");
setInterval(
  () => process.ppid === parent || process.kill(process.pid, "SIGKILL"),
  isProgram ? 500 : 60_000,
).unref();
