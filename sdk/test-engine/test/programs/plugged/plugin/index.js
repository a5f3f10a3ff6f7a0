// A provider plugin that logs every call with its arguments.
const grpc = require("@grpc/grpc-js");
const rpc = require("@pulumi/pulumi/proto/provider_grpc_pb");
const pb = require("@pulumi/pulumi/proto/provider_pb");
const { PluginInfo } = require("@pulumi/pulumi/proto/plugin_pb");
const { Empty } = require("google-protobuf/google/protobuf/empty_pb");
const { Any } = require("google-protobuf/google/protobuf/any_pb");
const { Struct } = require("google-protobuf/google/protobuf/struct_pb");
const { Status } = require("@pulumi/pulumi/proto/status_pb");
const { change, load, log } = require("../../objects.js");

const SIGNATURE = "4dabf18193072939515e22adb298388d";
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
/** The text of a value in the log. It shows whether the engine passed a secret or a reference. */
const text = (value) =>
  JSON.stringify(value, (_, item) => {
    if (!isObject(item)) return item;
    if (item[SIGNATURE]?.startsWith("1b47")) return { secret: item.value };
    if (item[SIGNATURE]) return { reference: item.urn };
    return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
const js = (struct) => struct?.toJavaScript() ?? {};
const given = ({ computed, ...rest }) => rest;
const nameOf = (request) => request.getUrn().split("::").at(-1);

/** The paths of all differences between two values. */
function differences(from, to, path = "") {
  if (JSON.stringify(from) === JSON.stringify(to)) return [];
  const { ADD, DELETE, UPDATE } = pb.PropertyDiff.Kind;
  if (from === undefined) return [[path, ADD]];
  if (to === undefined) return [[path, DELETE]];
  if (!isObject(from) || !isObject(to) || from[SIGNATURE] || to[SIGNATURE]) return [[path, UPDATE]];
  return [...new Set([...Object.keys(from), ...Object.keys(to)])].flatMap((key) =>
    differences(from[key], to[key], path === "" ? key : `${path}.${key}`),
  );
}

const answer = (Response, fields) => {
  const response = new Response();
  for (const [method, value] of Object.entries(fields)) response[method](value);
  return response;
};
const struct = (value) => Struct.fromJavaScript(value);
const failures = (list) =>
  list.map(([property, reason]) => new pb.CheckFailure().setProperty(property).setReason(reason));

function make(name, inputs) {
  if (load().full) throw new Error("no room");
  const id = change((objects) => {
    let n = 1;
    while (objects[`${name}-${n}`]) n++;
    objects[`${name}-${n}`] = inputs;
    return `${name}-${n}`;
  });
  const outputs = { ...inputs, computed: `of ${name}` };
  assertWhole(id, outputs);
  return answer(pb.CreateResponse, { setId: id, setProperties: struct(outputs) });
}

/** While the object `partial` exists, creates and updates succeed only in part. */
function assertWhole(id, outputs) {
  if (!load().partial) return;
  const fields = {
    setId: id,
    setProperties: struct(outputs),
    setReasonsList: ["first reason", "second reason"],
  };
  const detail = new Any();
  detail.pack(
    answer(pb.ErrorResourceInitFailed, fields).serializeBinary(),
    "pulumirpc.ErrorResourceInitFailed",
  );
  const status = answer(Status, {
    setCode: grpc.status.UNKNOWN,
    setMessage: "made in part",
    setDetailsList: [detail],
  });
  const metadata = new grpc.Metadata();
  metadata.set("grpc-status-details-bin", Buffer.from(status.serializeBinary()));
  throw Object.assign(new Error("made in part"), { metadata });
}

const methods = {
  handshake() {
    return answer(pb.ProviderHandshakeResponse, {
      setAcceptSecrets: process.env.SECRETS !== "no",
      setAcceptResources: process.env.SECRETS !== "no",
    });
  },
  getPluginInfo: () => new PluginInfo().setVersion("1.2.3"),
  checkConfig(request) {
    const news = js(request.getNews());
    log("checkConfig", nameOf(request), text(js(request.getOlds())), text(news));
    return answer(pb.CheckResponse, {
      setInputs: struct({ size: "small", ...news }),
      setFailuresList: failures(news.bad ? [["bad", "no good"]] : []),
    });
  },
  diffConfig(request) {
    const [olds, news] = [js(request.getOldInputs()), js(request.getNews())];
    log("diffConfig", nameOf(request), text(olds), text(js(request.getOlds())), text(news));
    const replace = olds.account !== undefined && olds.account !== news.account;
    return answer(pb.DiffResponse, {
      setReplacesList: replace ? ["account"] : [],
      setChanges: replace || olds.label !== news.label ? 2 : news.lax ? 1 : 0,
    });
  },
  configure(request) {
    log("configure", request.getName(), text(js(request.getArgs())), process.env.PULUMI_CONFIG);
    methods.account = js(request.getArgs()).account ?? "none";
    if (js(request.getArgs()).refused) throw new Error("this account is closed");
    return new pb.ConfigureResponse();
  },
  check(request) {
    const news = js(request.getNews());
    log("check", nameOf(request), text(js(request.getOlds())), text(news));
    return answer(pb.CheckResponse, {
      setInputs: struct({ size: 1, ...news }),
      setFailuresList: failures(news.bad === undefined ? [] : [["bad", "no good"]]),
    });
  },
  diff(request) {
    const [inputs, olds, news] = [js(request.getOldInputs()), js(request.getOlds()), js(request.getNews())];
    log("diff", nameOf(request), text(inputs), text(olds), text(news));
    if (news.vague) return new pb.DiffResponse();
    const before = news.byOutput ? given(olds) : inputs;
    const found = differences(before, news).filter(([path]) => path !== "hidden");
    const response = answer(pb.DiffResponse, {
      setChanges: found.length > 0 ? 2 : 1,
      setHasdetaileddiff: true,
      setDeletebeforereplace: news.dbr === true,
      setReplacesList: found.some(([path]) => path === "kind") ? ["kind"] : [],
      setDiffsList: news.names ?? [],
    });
    for (const [path, kind] of found) {
      const diff = new pb.PropertyDiff().setKind(kind + (path.startsWith("strict") ? 1 : 0));
      response.getDetaileddiffMap().set(path, diff.setInputdiff(!news.byOutput));
    }
    return response;
  },
  create(request) {
    const inputs = js(request.getProperties());
    const name = nameOf(request);
    log(request.getPreview() ? "create?" : "create", name, methods.account, text(inputs));
    if (request.getPreview())
      return answer(pb.CreateResponse, { setProperties: struct({ ...inputs, computed: `of ${name}` }) });
    return make(name, inputs);
  },
  update(request) {
    const news = js(request.getNews());
    const [call, id] = [request.getPreview() ? "update?" : "update", request.getId()];
    log(call, id, methods.account, text(js(request.getOldInputs())), text(js(request.getOlds())), text(news));
    const outputs = { ...news, computed: `of ${id}, again` };
    if (request.getPreview()) return answer(pb.UpdateResponse, { setProperties: struct(outputs) });
    if (load().partial) outputs.n = js(request.getOlds()).n;
    change((objects) => Object.assign(objects, { [id]: given(outputs) }));
    assertWhole(id, outputs);
    return answer(pb.UpdateResponse, { setProperties: struct(outputs) });
  },
  read(request) {
    const id = request.getId();
    const known = (part) => (part ? text(js(part)) : "nothing");
    log("read", id, methods.account, known(request.getInputs()), known(request.getProperties()));
    const found = load()[id];
    if (!found) return new pb.ReadResponse();
    if (found.unreadable) throw new Error("cannot read");
    return answer(pb.ReadResponse, {
      setId: id,
      setInputs: found.outputOnly ? undefined : struct(found),
      setProperties: struct({ ...found, computed: `of ${id}` }),
    });
  },
  delete(request) {
    log("delete", request.getId(), methods.account, text(js(request.getOldInputs())));
    change((objects) => delete objects[request.getId()]);
    return new Empty();
  },
  invoke(request) {
    const args = js(request.getArgs());
    log("invoke", request.getTok(), methods.account, text(args), request.getPreview());
    if (args.throws) throw new Error("cannot count");
    return answer(pb.InvokeResponse, {
      setReturn: struct({ account: methods.account, args }),
      setFailuresList: failures(args.fails ? [["fails", "not so"]] : []),
    });
  },
  cancel() {
    log("cancel");
    return new Empty();
  },
};

const service = Object.fromEntries(
  Object.entries(methods).map(([name, method]) => [
    name,
    async (call, callback) => {
      try {
        callback(null, await method(call.request));
      } catch (error) {
        callback({ code: grpc.status.UNKNOWN, details: error.message, metadata: error.metadata });
      }
    },
  ]),
);
const server = new grpc.Server();
server.addService(rpc.ResourceProviderService, service);
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(port);
  console.error("a word to nobody");
});
