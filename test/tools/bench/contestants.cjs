// The programs of both contestants: each declares the same endpoints, with a policy of 1 KB.
const pulumi = require("@pulumi/pulumi");
const { CloudEndpoint } = require("pulumi-endpoints");
const { endpointFields } = require("../../../dist/provider/endpoint/fields");

/** An update changes one endpoint in ten. */
const EVERY = 10;
const POLICY_BYTES = 1024;
const NOOP_PACKAGE = "benchmarks-no-op";

const declared = (size, isChanged) =>
  Array.from({ length: size }, (_, index) => [
    `e${index}`,
    {
      url: `https://e${index}.example.com`,
      description: isChanged && index % EVERY === 0 ? "changed" : "created",
      trafficPolicy: policyOf(index),
    },
  ]);

/** A realistic policy of exactly POLICY_BYTES, different for each endpoint. */
function policyOf(index) {
  const policy = (body) => ({
    on_http_request: [
      {
        name: `answer ${index}`,
        expressions: ["req.url.path.startsWith('/api/')", "!('x-internal' in req.headers)"],
        actions: [
          { type: "add-headers", config: { headers: { "x-served-by": `e${index}` } } },
          { type: "custom-response", config: { status_code: 200, headers: { vary: "accept" }, body } },
        ],
      },
    ],
  });
  const missing = POLICY_BYTES - JSON.stringify(policy("")).length;
  return policy("hello ".repeat(POLICY_BYTES).slice(0, missing));
}

/** Measures the engine alone: the provider string and the state are as large as ours, without requests and checks. */
class Noop extends pulumi.CustomResource {
  constructor(name, args) {
    const outputs = Object.keys(endpointFields).filter((field) => field !== "id");
    const unknown = Object.fromEntries(outputs.map((field) => [field, undefined]));
    const __provider = `exports.handler = () => require("${NOOP_PACKAGE}/provider");`;
    // Our class does this, too. With stack traces, each resource would take longer than ours.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      super("pulumi-nodejs:dynamic/endpoints:BlankEndpoint", name, { ...unknown, ...args, __provider });
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }
}

const declaring = (Class) => (size, isChanged) => {
  for (const [name, args] of declared(size, isChanged)) new Class(name, args);
};

module.exports = {
  NOOP_PACKAGE,
  changedCount: (size) => Math.ceil(size / EVERY),
  ours: declaring(CloudEndpoint),
  noop: declaring(Noop),
};
