"use strict";
// Loaded first in the processes of programs and providers. They start three times as fast without the modules that Pulumi's SDK needs only
// to serialize functions, for its Automation API, and for programs in TypeScript.
const Module = require("node:module");

const load = Module._load;
/** A provider of these tests is never a program in TypeScript. */
const isProvider = /cmd.run-plugin/.test(process.argv[1]);

Module._load = (request, parent, ...rest) => {
  const loaded = () => load(request, parent, ...rest);
  const [, from] = /@pulumi.pulumi.(.+)\.js$/.exec(parent?.filename ?? "") ?? [];
  if (from === undefined) return loaded();
  if (isProvider && /^(tsutils|cmd.run-plugin.run)$/.test(from) && /typescript|ts-node/.test(request))
    return { register() {} };
  // The SDK uses the debugger only to name the place of a serialized function in a message.
  if (/v8Hooks$/.test(request) && /^cmd/.test(from)) return { isInitializedAsync: async () => {} };
  if (!/^\.\/automation$|^@npmcli.arborist$|typescript-shim$/.test(request)) return loaded();
  return new Proxy({}, { get: (_, key) => key === "__esModule" || loaded()[key] });
};
