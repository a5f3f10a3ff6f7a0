const pulumi = require("@pulumi/pulumi");

/** A dynamic resource of this program. */
class Door extends pulumi.dynamic.Resource {
  constructor(name, args, options) {
    const provider = {
      create: async (inputs) => ({ id: `door-${inputs.colour}`, outs: { ...inputs, isOpen: false } }),
      update: async (_id, _olds, news) => ({ outs: { ...news, isOpen: false } }),
      diff: async (_id, olds, news) => ({ changes: olds.colour !== news.colour }),
    };
    super(provider, name, { isOpen: undefined, ...args }, options);
  }
}

class House extends pulumi.ComponentResource {
  constructor(name, colour) {
    super("mixed:index:House", name);
    this.door = new Door(`${name}-door`, { colour }, { parent: this });
    this.registerOutputs();
  }
}

/** A resource of the plugin in this folder. */
class Well extends pulumi.CustomResource {
  constructor(name, args) {
    super("wells:index:Well", name, { litres: undefined, ...args });
  }
}

const region = new pulumi.StackReference("organization/region/dev");
const house = new House("first", new pulumi.Config().get("colour") ?? "red");
const well = new Well("well", { depth: region.requireOutput("groundwater"), lock: pulumi.secret("1234") });

module.exports = { door: house.door.id, isOpen: house.door.isOpen, litres: well.litres };
