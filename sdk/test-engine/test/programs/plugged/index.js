const path = require("node:path");
const pulumi = require("@pulumi/pulumi");

class Provider extends pulumi.ProviderResource {
  constructor(name, args = {}, options = {}) {
    super("things", name, args, options);
  }
}
class Thing extends pulumi.CustomResource {
  constructor(name, args = {}, options = {}) {
    super("things:index:Thing", name, { computed: undefined, ...args }, options);
  }
}
const host = path.join(__dirname, "..", "things", "provider.js");
class DynamicThing extends pulumi.CustomResource {
  constructor(name, args = {}, options = {}) {
    const __provider = `exports.handler = () => require(${JSON.stringify(host)}).handler();`;
    super(
      "pulumi-nodejs:dynamic/things:Thing",
      name,
      { __provider, name, computed: undefined, ...args },
      options,
    );
  }
}
class Group extends pulumi.ComponentResource {
  constructor(name, options, child = `${name}-child`) {
    super("things:index:Group", name, {}, options);
    new Thing(child, {}, { parent: this });
    this.registerOutputs();
  }
}

const outputs = {};
const variants = {
  empty() {},
  rich(step) {
    const a = new Thing("a", {
      text: `n${step}`,
      secret: pulumi.secret(`s${step}`),
      deep: { same: 1, n: step, list: [1, pulumi.secret("two")], [step > 1 ? "added" : "gone"]: true },
      ...(step > 1 ? { fresh: { x: 1 } } : { old: { x: 1 } }),
    });
    new Thing("b", { ref: a, from: a.computed, id: a.id, byOutput: true, n: step });
    new Thing("c", { vague: true, n: step, hidden: step });
    new Thing("d", { hidden: step });
    new Thing("e", { n: step, m: step, names: ["m"] });
    Object.assign(outputs, { computed: a.computed, secret: a.secret, step });
  },
  replaced(step) {
    const a = new Thing("new-a", { kind: `k${step}` });
    new Thing("new-b", { kind: a.id, dbr: true });
    new Thing("new-c", { strict: { n: step } });
    new Thing("new-d", { n: step }, { replaceOnChanges: ["n"] });
    new Thing("new-e", { deep: { n: step } }, { ignoreChanges: ["deep.n"] });
  },
  changes(step) {
    variants.rich(step);
    variants.replaced(step);
    new Thing("lost", { n: 1 });
    new Thing("locked", { n: 1 }, { provider: new Provider("p", { account: "one" }) });
  },
  providers(step) {
    variants.explicit(step);
    variants.account(step);
    const provider = new Provider("other", { account: "one" });
    new Thing("moves", {}, step === 1 ? {} : { provider });
    const things = new Provider("things", { account: "of the component" });
    new Group("g", { providers: { things } });
  },
  explicit(step) {
    const ones = new Provider("ones", { account: "one", token: pulumi.secret("hush"), label: `l${step}` });
    const twos = new Provider("twos", { account: "two", lax: true, n: step });
    new Thing("a", {}, { provider: ones });
    new Thing("b", {}, { provider: twos });
    new Thing("c");
    const count = (provider) => pulumi.runtime.invokeOutput("things:index:count", { n: 1 }, { provider });
    Object.assign(outputs, { ones: count(ones), twos: count(twos), none: count() });
  },
  account(step) {
    const provider = new Provider("mine", { account: `account-${step}` });
    const a = new Thing("account-a", {}, { provider });
    new Thing("account-b", { from: a.id }, { provider });
  },
  /** Pulumi's engine treats every provider whose name begins with "default" as its own, and neither shows nor counts it. */
  namedDefault(step) {
    const config = step === 3 ? { refused: "yes" } : { account: "eu", label: `l${step}` };
    const provider = new Provider("default-eu", config);
    new Thing("a", {}, { provider });
  },
  unknownConfig(step) {
    const first = new Thing("first", { n: step });
    const provider = new Provider("late", { account: first.id, label: step > 1 ? first.computed : "x" });
    const a = new Thing("a", { n: step }, { provider });
    outputs.computed = a.computed;
    outputs.count = pulumi.runtime
      .invokeOutput("things:index:count", {}, { provider })
      .apply((all) => all.account);
  },
  badConfig: () => new Thing("a", {}, { provider: new Provider("p", { bad: "yes" }) }),
  refused: () => new Thing("a", {}, { provider: new Provider("p", { refused: "yes" }) }),
  checkFails: () => new Thing("a", { bad: pulumi.secret("x") }),
  invokes() {
    const fails = pulumi.runtime
      .invoke("things:index:count", { fails: true })
      .catch((error) => error.message);
    const throws = pulumi.runtime
      .invoke("things:index:count", { throws: true })
      .catch((error) => error.message);
    const secret = pulumi.runtime.invokeOutput("things:index:count", { x: pulumi.secret("y") });
    Object.assign(outputs, { fails, throws, secret });
  },
  import(step) {
    const a = new Thing("a", { n: 1, size: 1 }, { import: "there" });
    if (step === 2) new Thing("b", { n: 2 }, { import: "other" });
    if (step === 3) new Thing("b", { n: 2 });
    if (step === 4) new Thing("c", { n: 1 }, { import: "missing", dependsOn: a });
    if (step === 5) new Thing("c", { n: 1 }, { import: "silent", dependsOn: a });
  },
  importOptions(step) {
    const provider = new Provider("p", { account: "one" });
    const options = { import: "there", provider, protect: true, ignoreChanges: ["n"] };
    const a = new Thing("a", { n: 5, secret: pulumi.secret("s") }, options);
    new Thing("b", { from: a.computed, step });
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
  /** The change from variant 1 to 2 requires a replacement. Variant 3 protects the resource. */
  kept(step) {
    const options = { retainOnDelete: true, deleteBeforeReplace: true, protect: step === 3 };
    const kept = new Thing("kept", { kind: step === 2 ? "k2" : "k1" }, options);
    new Thing("user", { from: kept.computed });
  },
  deleted: (step) => new Thing("deleted", { kind: `k${step}`, dbr: true }),
  moves(step) {
    variants.host(step);
    variants.rename(step);
    variants.replaced(step);
  },
  host(step) {
    const aliases = ["things:index:Thing", "pulumi-nodejs:dynamic/things:Thing"].map((type) => ({ type }));
    const Class = step === 1 || step === 3 ? DynamicThing : Thing;
    const a = new Class("a", { name: "a", text: "same" }, { aliases });
    new Class("b", { name: "b", text: "same", from: a.id }, { aliases, parent: a });
  },
  rename(step) {
    if (step === 1) {
      const group = new Group("g");
      new Thing("by-urn");
      new Thing("moved", {}, { parent: group });
      return new Thing("out");
    }
    const group = new Group("h", { aliases: [{ name: "g" }] });
    new Thing("by-urn-2", {}, { aliases: ["urn:pulumi:test::plugged::things:index:Thing::by-urn"] });
    new Thing("moved", {}, { aliases: [{ parent: group }] });
    new Thing("in", {}, { parent: group, aliases: [{ name: "out", parent: pulumi.rootStackResource }] });
  },
};

const [variant, step] = (process.env.VARIANT ?? "empty").split(".");
variants[variant](Number(step ?? 1));
module.exports = outputs;
