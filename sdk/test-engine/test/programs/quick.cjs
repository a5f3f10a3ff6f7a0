"use strict";
// Loaded first in the processes of a scenario. A third of the time suffices for their start if they do not load what
// Pulumi's SDK needs only to serialize functions, for its Automation API, and for programs in TypeScript.
const Module = require("node:module");

const load = Module._load;

Module._load = (request, parent, ...rest) => {
  const loaded = () => load(request, parent, ...rest);
  const [, from] = /@pulumi.pulumi.(.+)\.js$/.exec(parent?.filename ?? "") ?? [];
  if (from === undefined) return loaded();
  if (/^(tsutils|cmd.run-plugin.run)$/.test(from) && /typescript|ts-node/.test(request))
    return { register() {} };
  // The session of the debugger finds the place of a serialized function for a message.
  if (/v8Hooks$/.test(request) && /^cmd/.test(from)) return { isInitializedAsync: async () => {} };
  if (!/^\.\/automation$|^@npmcli.arborist$|typescript-shim$/.test(request)) return loaded();
  return new Proxy({}, { get: (_, key) => key === "__esModule" || loaded()[key] });
};
