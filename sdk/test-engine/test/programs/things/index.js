const pulumi = require("@pulumi/pulumi");
const path = require("node:path");

const handler = `exports.handler = () => require(${JSON.stringify(path.join(__dirname, "provider.js"))}).handler();`;
class Thing extends pulumi.CustomResource {
  constructor(name, args = {}, options = {}) {
    super(
      "pulumi-nodejs:dynamic/things:Thing",
      name,
      { __provider: handler, name, computed: undefined, ...args },
      options,
    );
  }
}
class Group extends pulumi.ComponentResource {
  constructor(name, args, options, Child = Thing) {
    super("things:index:Group", name, args, options);
    this.child = new Child(`${name}-child`, { secret: pulumi.secret("hush") }, { parent: this });
    this.registerOutputs({ child: this.child.computed });
  }
}
class Other extends pulumi.CustomResource {
  constructor(name, args = {}, options = {}) {
    super("elsewhere:index/thing:Other", name, { computed: undefined, ...args }, options);
  }
}
class OtherProvider extends pulumi.ProviderResource {
  constructor(name, args) {
    super("elsewhere", name, args);
  }
}
const closure = {
  async create(inputs) {
    return { id: "closed", outs: { ...inputs, doubled: inputs.n * 2 } };
  },
};
class Closed extends pulumi.dynamic.Resource {
  constructor(name, args) {
    super(closure, name, { doubled: undefined, ...args });
  }
}

const outputs = {};
/** Resources, of which the first is replaced when `kind` changes. */
const chain = (prefix, kind, dbr) => {
  const a = new Thing(`${prefix}-a`, { kind, dbr });
  const b = new Thing(`${prefix}-b`, { kindOf: a.computed.apply((text) => `${text}/${kind}`), from: a.id });
  const c = new Thing(`${prefix}-c`, { from: b.id, vague: true });
  new Thing(`${prefix}-d`, {}, { dependsOn: a });
  new Thing(`${prefix}-e`, { z: 1 }, { parent: c });
};

const variants = {
  rich(step) {
    variants.get(step);
    const group = new Group("g", { size: step });
    const a = new Thing(
      "a",
      {
        text: "one",
        list: [1, pulumi.secret("two"), { x: null }],
        deep: { s: pulumi.secret({ in: 1 }), p: step },
        nothing: null,
        from: group.child.computed,
        ref: group.child,
        group,
      },
      { dependsOn: group, additionalSecretOutputs: ["computed"] },
    );
    const b = new Thing("b", { from: pulumi.interpolate`<${a.id}>`, plain: a.text }, { parent: a });
    new Closed("closed", { n: 21, s: pulumi.secret("x") });
    Object.assign(outputs, {
      id: a.id,
      computed: a.computed,
      b,
      s: pulumi.secret([1]),
      nested: { deep: [a.id] },
    });
    pulumi.log.info("said", a);
    pulumi.log.warn("warned");
  },
  empty() {},
  changes(step) {
    new Thing("a", {
      text: `n${step}`,
      ...(step > 1 ? { added: true } : { gone: 1 }),
      deep: { list: [1, step, { x: step }], same: 1 },
    });
    new Thing("vague", {
      vague: true,
      text: `n${step}`,
      secret: pulumi.secret(`s${step}`),
      deep: { x: step },
    });
    new Thing("hidden", { secret: pulumi.secret(`s${step}`) });
    chain("createFirst", `k${step}`, false);
    chain("deleteFirst", `k${step}`, true);
    const first = new Thing("dbr", { kind: `k${step}` }, { deleteBeforeReplace: true });
    new Thing("dbr-user", { kindOf: first.computed }, { deleteBeforeReplace: false });
    new Thing("not-dbr", { kind: `k${step}`, dbr: true }, { deleteBeforeReplace: false });
    new Thing("forced", {}, { deleteBeforeReplace: true });
    new Thing("forced-late", { dbr: true });
    if (step === 1) new Thing("left", {}, { retainOnDelete: true });
    new Thing("retained", { kind: `k${step}` }, { retainOnDelete: true });
    variants.ignore(step);
    variants.replaceOn(step);
    outputs.step = step;
  },
  fewer(step) {
    const a = new Thing("a");
    if (step === 1) {
      const b = new Thing("b", { from: a.id });
      new Thing("c", {}, { dependsOn: b });
      new Group("g", {});
    }
  },
  fails(step) {
    const a = new Thing("a", { n: step });
    const b = new Thing("b", { fails: step === 2, n: step, from: a.id });
    new Thing("c", { from: b.id });
    outputs.b = b.id;
  },
  createFails(step) {
    const a = new Thing("a");
    new Thing("b", { fails: step === 1, from: a.id });
    outputs.a = a.id;
  },
  /** Variant 3 replaces the resource. */
  partial(step) {
    const inputs = {
      n: step,
      text: `t${step}`,
      secret: pulumi.secret(`s${step}`),
      kind: step === 3 ? "k3" : "k",
    };
    const a = new Thing("a", inputs);
    new Thing("b", { from: a.computed });
    outputs.text = a.text;
  },
  get(step) {
    if (step === 1) return void new Thing("own");
    const read = new pulumi.CustomResource(
      "pulumi-nodejs:dynamic/things:Thing",
      "got",
      { __provider: handler, name: undefined, computed: undefined },
      { id: "own-1" },
    );
    new Thing("own");
    new Thing("user", { from: read.computed });
    outputs.name = read.name;
  },
  ignore(step) {
    new Thing(
      "ignore-a",
      {
        deep: { keep: step, take: step, list: [step, step] },
        top: step,
        ...(step === 1 ? { old: 1 } : { fresh: 1 }),
      },
      { ignoreChanges: ["deep.keep", "deep.list[0]", "old", "fresh"] },
    );
    new Thing("ignore-b", { list: step === 1 ? [1] : [1, 2] }, { ignoreChanges: ["list[1]"] });
    new Thing("ignore-c", { s: pulumi.secret({ x: step }), t: step }, { ignoreChanges: ["s.x"] });
    new Thing("ignore-all", { t: step, deep: { x: step } }, { ignoreChanges: ["*"] });
  },
  replaceOn(step) {
    new Thing("on-a", { n: step, vague: true, deep: { x: step } }, { replaceOnChanges: ["deep.x"] });
    new Thing("on-b", { n: step }, { replaceOnChanges: ["n"] });
    new Thing("on-c", { n: step, vague: true }, { replaceOnChanges: ["*"] });
  },
  protect(step) {
    const a = new Thing("a", { kind: step > 3 ? "other" : "k" }, { protect: true });
    if (step !== 2) new Thing("b", { from: a.id }, { protect: step === 1 });
    new Thing("c", { from: a.id });
  },
  drift() {
    const a = new Thing("a", { text: "mine", list: [1] });
    new Thing("vague", { vague: true, text: "mine", s: pulumi.secret("one") });
    const b = new Thing("b", { from: a.id });
    new Thing("c", { from: b.id }, { parent: b });
    new Thing("d", { n: 1 });
    new Thing("e", { n: 1 }, { ignoreChanges: ["n"] });
  },
  stays(step) {
    const a = new Thing("a");
    if (step === 1) new Thing("stays", { stays: true, from: a.id });
  },
  bad() {
    const bad = new Thing("bad", { bad: pulumi.secret({ z: [1, "a", true, null, 1234567.5], b: 0.00001 }) });
    new Thing("bad2", { bad: 1 }, { dependsOn: bad });
  },
  twice() {
    const first = new Thing("a");
    new Thing("a", {}, { dependsOn: first });
  },
  throws() {
    new Thing("a");
    throw new Error("the program threw");
  },
  rejects() {
    const a = new Thing("a");
    a.id.apply(() => {
      throw new Error("in apply");
    });
  },
  exits: () => process.exit(7),
  exitsWell() {
    // The SDK notices an early end only while a registration is in progress.
    new Thing("a");
    process.exit(0);
  },
  prints() {
    console.log("to stdout");
    console.error("to stderr");
    pulumi.log.debug("not shown");
    pulumi.log.error("logged an error");
  },
  others(step) {
    const a = new Other("a", {
      text: `n${step}`,
      secret: pulumi.secret("hush"),
      deep: { list: [1, pulumi.secret("two")], n: step },
    });
    const b = new Other("b", { from: a.computed, ref: a, id: a.id });
    new Other("c", { n: step }, { replaceOnChanges: ["n"] });
    new Other(
      "d",
      { n: step },
      { ignoreChanges: ["n"], protect: false, additionalSecretOutputs: ["computed"] },
    );
    if (step === 1) new Other("gone", {}, { dependsOn: b });
    new Thing("user", { from: b.computed, secret: a.secret });
    Object.assign(outputs, { computed: b.computed, id: a.id, secret: a.secret });
  },
  otherProviders(step) {
    const provider = new OtherProvider("eu", { region: `eu-${step}`, token: pulumi.secret("hush") });
    new Other("a", {}, { provider });
    new Group("g", {}, { providers: [provider] }, Other);
    outputs.called = pulumi.runtime.invokeOutput("elsewhere:index/get:get", { n: step }, { provider });
  },
  otherFunctions() {
    const get = "elsewhere:index/get:get";
    outputs.fails = pulumi.runtime.invoke(get, { fails: true }).catch((error) => error.message);
    outputs.called = pulumi.runtime.invoke(get, { x: 1, list: [{ y: null }] });
    outputs.secret = pulumi.runtime.invokeOutput(get, { x: pulumi.secret("y") });
    outputs.later = pulumi.runtime.invokeOutput(get, { x: new Other("a").computed });
  },
  otherGet() {
    const got = new Other("got", { text: undefined }, { id: "there" });
    new Thing("user", { from: got.text });
    outputs.text = got.text;
  },
  stacks() {
    const network = new pulumi.StackReference("organization/network/dev");
    const { url } = network.outputs;
    const token = network.requireOutput("token");
    const user = new Thing("user", { from: network.requireOutput("url"), secret: token, url });
    new pulumi.StackReference("named", { name: "organization/things/sibling" }, { parent: user });
    Object.assign(outputs, {
      token,
      nested: network.getOutput("nested"),
      missing: network.getOutput("missing"),
      keys: network.getOutput("keys"),
      zone: network.getOutputValue("nested").then(({ zones }) => zones[0]),
      isSecret: pulumi.isSecret(network.getOutput("url")),
      n: network.outputs.nested.n,
    });
  },
};

const [variant, step] = (process.env.VARIANT ?? "empty").split(".");
variants[variant](Number(step ?? 1));
module.exports = outputs;
