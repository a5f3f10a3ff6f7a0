// A provider plugin that supports as little as possible: no previews, no diffs, no secrets. The CLI finds it on the PATH.
const grpc = require("@grpc/grpc-js");
const rpc = require("@pulumi/pulumi/proto/provider_grpc_pb");
const pb = require("@pulumi/pulumi/proto/provider_pb");
const { PluginInfo } = require("@pulumi/pulumi/proto/plugin_pb");
const { Empty } = require("google-protobuf/google/protobuf/empty_pb");
const { Struct } = require("google-protobuf/google/protobuf/struct_pb");
const answers = require("./answers");

const nameOf = (request) => request.getUrn().split("::").at(-1);
const inputsOf = (struct) => struct?.toJavaScript() ?? {};
const newResource = (request, inputs, id) => {
  const made = answers.newResource({ name: nameOf(request), inputs: inputsOf(inputs), id });
  return { id: made.id, state: Struct.fromJavaScript(made.state) };
};

const methods = {
  getPluginInfo: () => new PluginInfo().setVersion("9.9.9"),
  configure: () => new pb.ConfigureResponse(),
  check: (request) => new pb.CheckResponse().setInputs(request.getNews()),
  diff: () => new pb.DiffResponse(),
  create(request) {
    const { id, state } = newResource(request, request.getProperties());
    return new pb.CreateResponse().setId(id).setProperties(state);
  },
  update: (request) => new pb.UpdateResponse().setProperties(newResource(request, request.getNews()).state),
  read(request) {
    const [id, inputs] = [request.getId(), request.getInputs()];
    const isManaged = id !== "there";
    const properties = isManaged ? request.getProperties() : newResource(request, inputs, id).state;
    return new pb.ReadResponse().setId(id).setInputs(inputs).setProperties(properties);
  },
  delete: () => new Empty(),
  invoke(request) {
    const answer = answers.call({ token: request.getTok(), inputs: inputsOf(request.getArgs()) });
    return new pb.InvokeResponse().setReturn(Struct.fromJavaScript(answer));
  },
};

const service = Object.fromEntries(
  Object.entries(methods).map(([name, method]) => [
    name,
    (call, callback) => {
      try {
        callback(null, method(call.request));
      } catch (error) {
        callback({ code: grpc.status.UNKNOWN, details: error.message });
      }
    },
  ]),
);
const server = new grpc.Server();
server.addService(rpc.ResourceProviderService, service);
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(port);
});
