// A plugin with as few methods as the engine's protocol needs. Its wells hold a hundred litres a metre.
const grpc = require("@grpc/grpc-js");
const rpc = require("@pulumi/pulumi/proto/provider_grpc_pb");
const pb = require("@pulumi/pulumi/proto/provider_pb");
const { Empty } = require("google-protobuf/google/protobuf/empty_pb");
const { Struct } = require("google-protobuf/google/protobuf/struct_pb");

const withLitres = (inputs) =>
  Struct.fromJavaScript({ ...inputs.toJavaScript(), litres: inputs.toJavaScript().depth * 100 });

const methods = {
  handshake: () => new pb.ProviderHandshakeResponse().setAcceptSecrets(true).setAcceptResources(true),
  checkConfig: (request) => new pb.CheckResponse().setInputs(request.getNews()),
  diffConfig: () => new pb.DiffResponse(),
  configure: () => new pb.ConfigureResponse().setAcceptsecrets(true).setAcceptresources(true),
  check: (request) => new pb.CheckResponse().setInputs(request.getNews()),
  diff: () => new pb.DiffResponse(),
  create: (request) =>
    new pb.CreateResponse()
      .setId(request.getPreview() ? "" : "well-1")
      .setProperties(request.getPreview() ? request.getProperties() : withLitres(request.getProperties())),
  update: (request) => new pb.UpdateResponse().setProperties(withLitres(request.getNews())),
  read: (request) =>
    new pb.ReadResponse()
      .setId(request.getId())
      .setInputs(request.getInputs())
      .setProperties(request.getProperties()),
  delete: () => new Empty(),
  getPluginInfo: () => new (require("@pulumi/pulumi/proto/plugin_pb").PluginInfo)().setVersion("1.0.0"),
  cancel: () => new Empty(),
};

const server = new grpc.Server();
const serve = (method) => (call, answer) => answer(null, method(call.request));
server.addService(
  rpc.ResourceProviderService,
  Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, serve(method)])),
);
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (_, port) => console.log(port));
