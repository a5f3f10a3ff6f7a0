/*
 * Who may import whom. Data flows one way: program → sdk → engine → provider → provider/service → HTTP, and each layer imports
 * only from those to its right.
 */

const POLICIES = "^sdk/traffic-policy/";
/** Open to all: texts and data, and what Pulumi's protocol is. */
const GROUND_FLOOR = "^provider/(data|pulumi)/";

/** The files of the provider that programs, commands, the test kit and the pages may use. */
const FOR_PROGRAMS = [
  // The public type of a resource's fields, and the service's replies.
  "service/contract",
  // What programs, commands and the test kit read from the configuration.
  "service/settings",
  // The five calls, for commands; the client, whose requests the mocks answer; and what an id and a time are.
  "service/(client|clock|endpoints|replySchemas)",
  // Errors with the sentences and headings that a user sees, without keys.
  "service/(apiErrors|headings|redaction)",
  // The rules of URLs, and the version of this package.
  "service/(url|version)",
  // The checks and forms of a resource's inputs: a program makes them before the engine, a command without it.
  "endpoint/(documents|fields|inputs|standIns|secretSearch|secrets|urlRegistry)",
  // What drift and adopt compare and read as a refresh does.
  "endpoint/(adopt|readEndpoint|state)",
  // An account, the functions of data sources, and what they take.
  "dataSources/(account|dataSourceArguments|lookup|textPatterns)",
  // What the mocks of the test kit run.
  "dynamic",
  // What the component for other languages is to the plugin.
  "plugin/(failure|functions)",
];

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
      to: { path: "^provider/", pathNot: "^provider/(data|service)/" },
    },
    {
      name: "data-is-a-leaf",
      comment: "It lies below everything.",
      severity: "error",
      from: { path: "^provider/data/" },
      to: { path: "^provider/", pathNot: "^provider/data/" },
    },
    {
      name: "pulumi-knows-no-endpoints",
      comment: "What Pulumi's protocol is, for whoever speaks it.",
      severity: "error",
      from: { path: "^provider/pulumi/" },
      to: { path: "^provider/", pathNot: GROUND_FLOOR },
    },
    {
      name: "provider-knows-no-programs",
      comment:
        "The provider runs in the engine's processes. What its plugin needs of the SDK, provider/plugin/index.js hands it.",
      severity: "error",
      from: { path: "^provider/", pathNot: "^provider/plugin/index\\.js$" },
      to: { path: "^(sdk|docs|test)/" },
    },
    {
      name: "provider-has-doors",
      comment:
        "What else the provider consists of can change without a thought of programs, commands and tests.",
      severity: "error",
      from: { path: "^(sdk|docs)/" },
      to: { path: "^provider/", pathNot: [GROUND_FLOOR, `^provider/(${FOR_PROGRAMS.join("|")})\\.ts$`] },
    },
    {
      name: "plugin-loads-pulumi-lazily",
      comment:
        "Pulumi's runtime would triple the time that every provider process takes to start. The first component loads it.",
      severity: "error",
      from: {
        path: "^(provider/|sdk/policyWarnings\\.ts$|sdk/webhooks/(otherLanguages|agentConfig|secretSource|webhookChecks)\\.ts$)",
      },
      to: {
        path: "@pulumi/pulumi/index\\.|^sdk/(webhooks/(construct|webhookVerification)|programRun)\\.ts$",
        dependencyTypesNot: ["dynamic-import", "type-only", "type-import"],
      },
    },
    {
      name: "resource-knows-no-data-sources",
      comment: "A change of the resource's life need not think of what programs look up.",
      severity: "error",
      from: { path: "^provider/(service|pulumi|endpoint)/|^provider/(dynamic|index)\\.ts$" },
      to: { path: "^provider/dataSources/" },
    },
    {
      name: "core-knows-no-plugin",
      comment: "The core is the same in both providers.",
      severity: "error",
      from: { path: "^provider/", pathNot: "^provider/plugin/" },
      to: { path: "^provider/plugin/" },
    },
    {
      name: "traffic-policy-has-doors",
      comment:
        "The rest uses its index and those of its folders, and nothing else of it. Each loads only its folder.",
      severity: "error",
      from: { pathNot: POLICIES },
      to: { path: POLICIES, pathNot: `${POLICIES}(index|(answer|command|policy|webhooks)/index)\\.ts$` },
    },
    {
      name: "traffic-policy-is-a-leaf",
      comment: "It reads, checks and runs policies, and knows nothing of Pulumi.",
      severity: "error",
      from: { path: POLICIES },
      to: {
        path: "^(provider|sdk|docs|test)/|^node_modules/",
        pathNot: [
          POLICIES,
          "^provider/data/|^sdk/io\\.ts$",
          "^node_modules/(yaml|zod|re2js|fastest-levenshtein|@marcbachmann/cel-js)/",
        ],
      },
    },
    {
      name: "pulumi-cli-has-one-door",
      comment: "The rest uses what its index exports.",
      severity: "error",
      from: { pathNot: "^sdk/pulumi-cli/" },
      to: { path: "^sdk/pulumi-cli/", pathNot: "^sdk/pulumi-cli/index\\.ts$" },
    },
    {
      name: "pulumi-cli-is-a-leaf",
      comment: "It runs the CLI for commands, tests and the engine alike, and knows none of them.",
      severity: "error",
      from: { path: "^sdk/pulumi-cli/" },
      to: { path: "^(provider|sdk|docs|test)/", pathNot: ["^sdk/pulumi-cli/", GROUND_FLOOR] },
    },
    {
      name: "test-engine-has-one-door",
      comment: "The test kit uses what its index exports, and nobody else uses it: it is for tests.",
      severity: "error",
      from: { pathNot: "^sdk/test-engine/" },
      to: { path: "^sdk/test-engine/", pathNot: "^sdk/test-engine/index\\.ts$" },
    },
    {
      name: "only-the-test-kit-runs-the-engine",
      comment: "Shipped code must not depend on an engine for tests. The demo uses the test kit.",
      severity: "error",
      from: { path: "^(provider|sdk|docs)/", pathNot: "^sdk/(testing|test-engine)/" },
      to: { path: "^sdk/test-engine/" },
    },
    {
      name: "test-engine-is-a-leaf",
      comment: "It runs any Pulumi program, and knows nothing of endpoints.",
      severity: "error",
      from: { path: "^sdk/test-engine/" },
      to: {
        path: "^(provider|sdk|docs|test)/",
        pathNot: ["^sdk/(test-engine/|pulumi-cli/index\\.ts$)", GROUND_FLOOR],
      },
    },
    {
      name: "test-engine-loads-lazily",
      comment: "Tests use its tools. The engine and the driver of the CLI are loaded with the first stack.",
      severity: "error",
      from: {
        path: "^sdk/test-engine/[^/]+\\.ts$",
        pathNot: "^sdk/test-engine/(cliDriver|drivers|pulumiStack)\\.ts$",
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
    exclude: { path: "^(dist|sdk/[^/]+/test)/|/\\.programs/" },
    // Types are dependencies too.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { extensions: [".ts", ".js", ".json"] },
  },
};
