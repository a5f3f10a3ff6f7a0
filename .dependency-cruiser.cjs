/*
 * Who may import whom. Data flows one way: program → sdk → engine → provider → provider/service → HTTP, and each layer imports
 * only from those to its right.
 */

/** The packages that can be packed and used alone. */
const PACKAGES = "^sdk/traffic-policy/";

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: "no-circles",
      comment: "Files that import each other can be neither read nor changed one at a time.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-circles-of-folders",
      comment: "Folders that import each other are one folder.",
      severity: "error",
      scope: "folder",
      from: {},
      to: { circular: true },
    },
    {
      name: "service-is-a-leaf",
      comment: "What the client of the service needs from above is handed to it.",
      severity: "error",
      from: { path: "^provider/service/" },
      to: { path: "^(provider|sdk|docs|test)/", pathNot: [PACKAGES, "^provider/service/"] },
    },
    {
      name: "pulumi-knows-no-endpoints",
      comment: "What Pulumi's protocol is, for whoever speaks it.",
      severity: "error",
      from: { path: "^provider/pulumi/" },
      to: {
        path: "^(provider|sdk|docs|test)/",
        pathNot: [PACKAGES, "^provider/(pulumi/|service/json\\.ts$)"],
      },
    },
    {
      name: "provider-knows-no-programs",
      comment:
        "The provider runs in the engine's processes. The webhook component for other languages is handed to its plugin.",
      severity: "error",
      from: { path: "^provider/" },
      to: { path: "^(sdk|docs|test)/", pathNot: PACKAGES },
    },
    {
      name: "packages-have-a-door",
      comment: "A package in sdk/ is used by its index only.",
      severity: "error",
      from: { pathNot: PACKAGES },
      to: { path: PACKAGES, pathNot: "^sdk/traffic-policy/index\\.ts$" },
    },
    {
      name: "packages-are-leaves",
      comment: "A package in sdk/ can be packed and used alone. It knows nothing of Pulumi.",
      severity: "error",
      from: { path: PACKAGES },
      to: { path: "^(provider|sdk|docs|test)/|@pulumi/", pathNot: PACKAGES },
    },
    {
      name: "plugin-loads-pulumi-lazily",
      comment:
        "Pulumi's runtime would triple the time that every provider process takes to start. The first component loads it.",
      severity: "error",
      from: {
        path: "^(provider/|sdk/webhooks/(otherLanguages|agentConfig|mergedPolicy|secretSource|webhookChecks)\\.ts$)",
      },
      to: {
        path: "@pulumi/pulumi/index\\.|^sdk/(webhooks/(construct|webhookVerification)|programRun)\\.ts$",
        dependencyTypesNot: ["dynamic-import", "type-only", "type-import"],
      },
    },
    {
      name: "policy-is-a-leaf",
      comment:
        "What is known of policies only warns. The core works without it, and hands it parsed documents.",
      severity: "error",
      from: { path: "^provider/(service|pulumi|endpoint)/|^provider/(dynamic|index)\\.ts$" },
      to: { path: "^provider/policy/" },
    },
    {
      name: "policy-knows-unknown-values-only",
      comment: "Of the core, the warnings need no more than the text for unknown values.",
      severity: "error",
      from: { path: "^provider/policy/" },
      to: {
        path: "^provider/",
        pathNot: "^provider/(policy/|pulumi/sentinels\\.ts$|service/json\\.ts$)",
      },
    },
    {
      name: "core-knows-no-plugin",
      comment: "The core is the same in both providers.",
      severity: "error",
      from: { path: "^provider/", pathNot: "^provider/plugin/" },
      to: { path: "^provider/plugin/" },
    },
    {
      name: "test-engine-has-one-door",
      comment: "It is a package of its own: the rest uses what its index exports.",
      severity: "error",
      from: { pathNot: "^sdk/test-engine/" },
      to: { path: "^sdk/test-engine/", pathNot: "^sdk/test-engine/index\\.ts$" },
    },
    {
      name: "test-engine-is-a-leaf",
      comment: "It runs any Pulumi program, and knows nothing of endpoints.",
      severity: "error",
      from: { path: "^sdk/test-engine/" },
      to: { path: "^(provider|sdk|docs|test)/", pathNot: "^sdk/test-engine/" },
    },
    {
      name: "test-engine-loads-lazily",
      comment:
        "Programs and commands use its tools. The engine and the driver of the CLI are loaded with the first stack.",
      severity: "error",
      from: {
        path: "^sdk/test-engine/[^/]+\\.ts$",
        pathNot: "^sdk/test-engine/(cliDriver|drivers|testStack)\\.ts$",
      },
      to: { path: "^sdk/test-engine/(engine/|(cliDriver|drivers)\\.ts$)" },
    },
    {
      name: "test-kit-is-for-tests",
      comment:
        "Production code does not run on the test kit; the commands that show or serve the emulator do, and the pictures of the docs.",
      severity: "error",
      from: {
        path: "^(provider|sdk|docs)/",
        pathNot: "^(docs/generate|sdk/testing)/|^sdk/commands/(demo|emulatorState|new|serveEmulator)\\.ts$",
      },
      to: { path: "^sdk/testing/" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(dist|node_modules)/|^sdk/[^/]+/(dist|test)/|/\\.programs/" },
    // Types are dependencies too.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { extensions: [".ts", ".js", ".json"] },
  },
};
