"use strict";
/*
 * Loaded before everything else in a program and in a provider. Most of a process's time goes into loading what it seldom
 * uses, so that waits until it is used. What a program sees stays the same.
 */
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const Module = require("node:module");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const util = require("node:util");

const load = Module._load;

/** What Pulumi's SDK needs for versions, serialized functions, its Automation API and TypeScript alone. */
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

/** What can be answered for a module that is not loaded. */
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
 * A debugger's session slows the whole program down. The SDK opens one at the start, since its listener misses the scripts
 * that were parsed before it. With this session it misses none, so the session can wait until a function is serialized.
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

/** Where compiled files are kept. A folder that another user can write to is not used, since its files are run. */
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
 * Registers ts-node when a file has to be compiled. Type checks need it at once. So does whatever else than the content of a
 * file, the compiler and the configuration may decide how the file is compiled.
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
      // Its own reader of source maps would not know the files that were compiled before.
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

/** Whole or not at all, for other processes. */
function keep(key, output) {
  const temporary = join(cacheFolder, `${key}.${process.pid}`);
  try {
    fs.writeFileSync(temporary, output);
    fs.renameSync(temporary, join(cacheFolder, key));
  } catch {
    // Without room for it the file is compiled again.
  }
  return output;
}

/** The output with the source map of this file, which may have been another one of the same content. */
function withSource(output, file) {
  return output.replace(/(?<=\/\/# sourceMappingURL=data:[^,]*;base64,)[\w+/=]+$/, (encoded) => {
    const map = { ...JSON.parse(Buffer.from(encoded, "base64").toString()), file, sources: [file] };
    return Buffer.from(JSON.stringify(map)).toString("base64");
  });
}

/** The SDK takes a stack trace of each resource. The maps of its own files and gRPC's are not worth their loading. */
const exists = fs.existsSync;
fs.existsSync = (path) => !/@(pulumi.pulumi|grpc.grpc-js).*\.js\.map$/.test(path) && exists(path);

/**
 * On Node 20.20 `util.inspect(error, {colors: true})` runs away on certain stack lines, and a program that throws then takes
 * half a minute to end, also under the real CLI.
 */
const { inspect } = util;
const withoutColors = (value, options, ...rest) =>
  inspect(value, options && typeof options === "object" ? { ...options, colors: false } : options, ...rest);
util.inspect = Object.assign(withoutColors, inspect);

/**
 * No process outlives for long the one that started it. A program whose engine is gone would report that without end. A
 * provider is given a minute: tests look at what it does without an engine.
 */
const parent = process.ppid;
const isProgram = /@pulumi.pulumi.cmd.run.index\.js$/.test(process.argv[1] ?? "");
setInterval(
  () => process.ppid === parent || process.kill(process.pid, "SIGKILL"),
  isProgram ? 500 : 60_000,
).unref();
