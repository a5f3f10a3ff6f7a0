"use strict";
/*
 * Loaded first in each program and each provider. Such a process spends most of its time loading modules that it seldom
 * uses. This file delays their loading until they are used. The program does not notice it.
 */
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const Module = require("node:module");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const util = require("node:util");

const load = Module._load;

/** Modules that Pulumi's SDK needs only for versions, serialized functions, its Automation API and TypeScript. */
const SELDOM =
  /^(\.\/automation|@npmcli\/arborist|fdir|js-yaml|normalize-package-data|semver|typescript|upath)$/;
const VENDORED_COMPILER = /vendor.typescript@([\d.]+).typescript\.js$/;
const SDK = /@pulumi.pulumi.(?!node_modules|vendor)/;

function isSeldom(request, importer) {
  if (/@pulumi.pulumi.cmd.run.tracing\.js$/.test(importer)) return /^@opentelemetry.(?!api$)/.test(request);
  if (/zod.v4.(classic|core)/.test(importer)) return /locales.index\.c?js$/.test(request);
  return SDK.test(importer) && (SELDOM.test(request) || VENDORED_COMPILER.test(request));
}

Module._load = (request, parent, ...rest) => {
  const importer = parent?.filename ?? "";
  const loaded = () => load(request, parent, ...rest);
  if (/v8Hooks$/.test(request) && /@pulumi.pulumi.cmd.run(-plugin)?.index\.js$/.test(importer))
    return { isInitializedAsync: async () => {} };
  if (request === "inspector" && /v8Hooks\.js$/.test(importer))
    return { Session: recordingSession(loaded().Session) };
  if (/ts-node/.test(request) && /@pulumi.pulumi.cmd.run(-plugin)?.run\.js$/.test(importer))
    return { register: (options) => registerLate(options, request, parent, loaded) };
  if (!isSeldom(request, importer)) return loaded();
  const known = knownOf(request, Module._resolveFilename(request, parent), loaded);
  return new Proxy(
    {},
    {
      get(_, key) {
        if (Object.hasOwn(known, key)) return known[key];
        const exports = loaded();
        return key === "default" && !exports.__esModule ? exports : exports[key];
      },
      ownKeys: () => Reflect.ownKeys(loaded()),
      getOwnPropertyDescriptor: (_, key) => ({ value: loaded()[key], enumerable: true, configurable: true }),
    },
  );
};

/** The exports that are known without loading the module. */
function knownOf(request, file, loaded) {
  if (!/typescript/.test(request)) return { __esModule: true };
  return {
    __esModule: true,
    version: VENDORED_COMPILER.exec(file)?.[1] ?? load(join(file, "../../package.json")).version,
    parseConfigFileTextToJson(name, text) {
      try {
        return { config: JSON.parse(text) };
      } catch {
        return loaded().parseConfigFileTextToJson(name, text);
      }
    },
  };
}

/**
 * A session of the debugger slows down the whole program. The SDK opens one at the start, because its listener would miss
 * earlier scripts. This session records them, so that it can be opened when the first function is serialized.
 */
function recordingSession(Session) {
  return class extends Session {
    parsed = [];
    record = (event) => this.parsed.push(event);
    connect() {
      super.connect();
      this.on("Debugger.scriptParsed", this.record);
    }
    addListener(name, listener) {
      this.off("Debugger.scriptParsed", this.record);
      for (const event of this.parsed.splice(0)) listener(event);
      return super.addListener(name, listener);
    }
  };
}

/** The folder with compiled files. It is not used if another user can write to it, because its files are executed. */
const cacheFolder = (() => {
  const user = process.getuid?.() ?? "";
  const folder = join(tmpdir(), `pulumi-endpoints-testing-${user}`);
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = fs.lstatSync(folder);
    return user === "" || (uid === user && (mode & 0o022) === 0) ? folder : undefined;
  } catch {
    return undefined;
  }
})();

/**
 * Registers ts-node when the first file must be compiled. Compiled files are kept and used again, but not with type checks,
 * and not if the result depends on more than the file, the compiler and the configuration.
 */
function registerLate(options, request, parent, tsNode) {
  const before = [".ts", ".tsx"].map((extension) => [extension, Module._extensions[extension]]);
  const restore = () => {
    for (const [extension, handler] of before)
      if (handler) Module._extensions[extension] = handler;
      else delete Module._extensions[extension];
  };
  const config = options.skipProject ? "" : fs.readFileSync(options.project, "utf8");
  const isKept =
    cacheFolder !== undefined &&
    options.transpileOnly === true &&
    /vendor.ts-node@7/.test(request) &&
    !/"(extends|allowJs)"/.test(config) &&
    !Object.keys(process.env).some((name) => name.startsWith("TS_NODE_"));

  if (!isKept) {
    for (const [extension] of before)
      Module._extensions[extension] = (module, file) => {
        restore();
        tsNode().register(options);
        Module._extensions[extension](module, file);
      };
    return;
  }

  const compiler = Module._resolveFilename(options.compiler, parent);
  const settings = JSON.stringify([
    request,
    compiler,
    Module._load(options.compiler, parent).version,
    options,
    config,
  ]);
  const outputs = new Map();
  const sourceMaps = load("source-map-support", parent);
  sourceMaps.install({ environment: "node", retrieveFile: (file) => outputs.get(file) });
  let service;
  const compile = (code, file) => {
    if (!service) {
      // ts-node's reader of source maps does not know the files that were compiled earlier.
      const { prepareStackTrace } = Error;
      restore();
      service = tsNode().register(options);
      install();
      Error.prepareStackTrace = prepareStackTrace;
    }
    return service.compile(code, file);
  };
  const install = () => {
    for (const [extension, handler = Module._extensions[".js"]] of before)
      Module._extensions[extension] = (module, file) => {
        if (/\/node_modules\//.test(file.replaceAll("\\", "/"))) return handler(module, file);
        const original = module._compile;
        module._compile = function (code, name) {
          const key = createHash("sha256").update(`${settings}\0${extension}\0${code}`).digest("hex");
          const output = withSource(kept(key) ?? keep(key, compile(code, name)), name);
          outputs.set(name, output);
          return original.call(this, output, name);
        };
        handler(module, file);
      };
  };
  install();
}

function kept(key) {
  try {
    return fs.readFileSync(join(cacheFolder, key), "utf8");
  } catch {
    return undefined;
  }
}

/** Writes a file atomically, because other processes read it. */
function keep(key, output) {
  const temporary = join(cacheFolder, `${key}.${process.pid}`);
  try {
    fs.writeFileSync(temporary, output);
    fs.renameSync(temporary, join(cacheFolder, key));
  } catch {
    // If the file cannot be written, the next process compiles it again.
  }
  return output;
}

/** Sets the file's name in the source map. The output may come from another file with the same content. */
function withSource(output, file) {
  return output.replace(/(?<=\/\/# sourceMappingURL=data:[^,]*;base64,)[\w+/=]+$/, (encoded) => {
    const map = { ...JSON.parse(Buffer.from(encoded, "base64").toString()), file, sources: [file] };
    return Buffer.from(JSON.stringify(map)).toString("base64");
  });
}

/** The SDK creates a stack trace for each resource. Loading the source maps of the SDK and of gRPC would be slow. */
const exists = fs.existsSync;
fs.existsSync = (path) => !/@(pulumi.pulumi|grpc.grpc-js).*\.js\.map$/.test(path) && exists(path);

/**
 * On Node 20.20 `util.inspect(error, {colors: true})` is extremely slow for certain stack lines. A program that throws then
 * takes half a minute to end, also with the Pulumi CLI.
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
