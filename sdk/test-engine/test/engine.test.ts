import { Alias } from "@pulumi/pulumi/proto/alias_pb";
import { Callback } from "@pulumi/pulumi/proto/callback_pb";
import * as pb from "@pulumi/pulumi/proto/resource_pb";
import { expect, test } from "vitest";
import { SECRET, SIGNATURE, UNKNOWN } from "../../../provider/pulumi/sentinels";
import { programFolder } from "../../../test/folders";
import { until } from "../../../test/until";
import { secret } from "../../pulumi-cli/index";
import { toStruct } from "../engine/protocol";
import { PulumiStack } from "../index";
import { call, InProcessEngine, type ReplyCallback, resource } from "./inProcess";

type RunResult = Awaited<ReturnType<InProcessEngine["run"]>>;

const errorsOf = ({ diagnostics }: RunResult) =>
  diagnostics
    .filter(({ severity, message }) => severity === "error" && message !== "update failed")
    .map(({ message }) => message)
    .join();
const unsupported = (what: string) =>
  `the test engine does not support ${what}: use the driver "cli", which runs the Pulumi CLI on the PATH`;

const asset = { "4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17", text: "text" };
const timeouts = new pb.RegisterResourceRequest.CustomTimeouts().setCreate("1m");
const DYNAMIC = "pulumi-nodejs:dynamic/a:A";
const PROVIDER = "pulumi:providers:random";

test.each<[what: string, request: pb.RegisterResourceRequest]>([
  ["remote components (random:index:Thing)", resource("a").setCustom(false).setRemote(true)],
  ["resources of the type pulumi:index:Stash", resource("a", {}, "pulumi:index:Stash")],
  ["assets and archives", resource("a", { file: asset })],
  [`versions and download URLs of plugins (of ${DYNAMIC})`, resource("a", {}, DYNAMIC).setVersion("1.2.3")],
  ["resource hooks", resource("a").setHooks(new pb.RegisterResourceRequest.ResourceHooksBinding())],
  ["packages with parameters (random:index:Thing)", resource("a").setPackageref("p")],
  ["the option customTimeouts (of a)", resource("a").setCustomtimeouts(timeouts)],
  ["the option deletedWith (of a)", resource("a").setDeletedwith("urn")],
  ["the option hideDiffs (of a)", resource("a").setHidediffsList(["n"])],
  ["imports of resources without a provider (a)", resource("a").setImportid("there")],
])("a resource with %s is refused, and the message names the CLI driver", async (what, request) => {
  const refused = await new InProcessEngine().register(request);
  expect([refused.ok, errorsOf(refused)]).toEqual([false, unsupported(what)]);
});

test.each([
  ["random:index:Thing", /no plugin for the package random: .* with the option "others", or use the driver/],
  ["ours:index:Thing", /no plugin for the package ours: .* download them: use the driver/],
])("a package without a plugin is refused: %s", async (type, words) => {
  expect(errorsOf(await new InProcessEngine(null).register(resource("a", {}, type)))).toMatch(words);
});

test("transforms are reported as supported, and then refused with the engine's own message", async () => {
  const features: boolean[] = [];
  const refused = await new InProcessEngine().run(async (monitor) => {
    for (const feature of ["transforms", "resourceHooks", "of a later version"]) {
      const request = new pb.SupportsFeatureRequest().setId(feature);
      const send = (answer: ReplyCallback<pb.SupportsFeatureResponse>) =>
        monitor.supportsFeature(request, answer);
      features.push((await call(send)).getHassupport());
    }
    await call((answer) => monitor.registerStackTransform(new Callback(), answer));
  });
  expect(features).toEqual([true, true, false]);
  expect([refused.ok, errorsOf(refused)]).toEqual([false, unsupported("transforms")]);
});

test("the error of a function reaches the program, and an unknown stack fails the run", async () => {
  const failed: string[] = [];
  const name = "organization/network/prod";
  const { ok, ...result } = await new InProcessEngine(null).run(async (monitor) => {
    const invoke = new pb.ResourceInvokeRequest().setTok("random:index:get");
    await call((answer) => monitor.invoke(invoke, answer)).catch(({ details }) => failed.push(details));
    const read = new pb.ReadResourceRequest()
      .setId(name)
      .setType("pulumi:pulumi:StackReference")
      .setName("s");
    await call((answer) => monitor.readResource(read.setProperties(toStruct({ name })), answer));
  });
  expect(failed).toEqual([expect.stringContaining("there is no plugin for the package random")]);
  expect([ok, errorsOf({ ok, ...result })]).toEqual([false, 'unknown stack "organization/network/prod"']);
});

const alias = (name: string) => new Alias().setSpec(new Alias.Spec().setName(name).setNoparent(true));
const withAlias = (request: pb.RegisterResourceRequest, name: string) =>
  request.setAliasesList([alias(name)]);

test.each<[what: string, first: pb.RegisterResourceRequest, then: pb.RegisterResourceRequest]>([
  [
    "aliases of providers (of mine-2)",
    resource("mine-1", {}, PROVIDER),
    withAlias(resource("mine-2", {}, PROVIDER), "mine-1"),
  ],
  ["an import in place of an existing resource (a)", resource("a"), resource("a").setImportid("there")],
  [
    "the replacement of a, which still has the option import",
    resource("a", { n: 1 }),
    resource("a", { n: 2 }).setImportid("a_id").setReplaceonchangesList(["n"]),
  ],
])("%s is refused, and nothing is changed", async (what, first, then) => {
  const calls: string[] = [];
  const engine = new InProcessEngine({
    newResource: ({ name, inputs, id }) => {
      calls.push(name);
      return { id: id || `${name}_id`, state: inputs };
    },
  });
  expect((await engine.register(first)).ok).toBe(true);
  calls.length = 0;
  const refused = await engine.register(then);
  expect([refused.ok, errorsOf(refused), calls]).toEqual([false, unsupported(what), []]);
});

test("two resources with the same former URN are refused", async () => {
  const engine = new InProcessEngine();
  await engine.register(resource("a"));
  const refused = await engine.register(withAlias(resource("b"), "a"), withAlias(resource("c"), "a"));
  expect(errorsOf(refused)).toMatch(/::c' and '.*::b' both have the old resource '.*::a', by name or alias/);
});

test("a target that neither the state nor the program has fails the run before anything is deleted", async () => {
  const engine = new InProcessEngine();
  await engine.register(resource("a"), resource("b"));
  const [b, mistyped] = ["b", "bb"].map((name) => `urn:pulumi:test::case::random:index:Thing::${name}`);
  const run = await engine.run(
    (monitor) => call((answer) => monitor.registerResource(resource("a"), answer)),
    { target: [b ?? "", mistyped ?? ""] },
  );
  expect([run.ok, errorsOf(run)]).toEqual([false, `Target '${mistyped}' could not be found in the stack.`]);
  expect(engine.named(() => true)).toContain("b");
});

test("refreshing an unknown target, destroying only targets and importing by command are refused", async () => {
  await using stack = await PulumiStack.create({ program: programFolder() });
  const options = { target: ["urn:pulumi:test::case::random:index:Thing::a"] };
  await expect(stack.refresh(options)).rejects.toThrow(/^refresh failed: Target '.*::a' could not be/);
  await expect(stack.destroy(options)).rejects.toThrow(unsupported("destroying only targets"));
  await expect(stack.import("import.json")).rejects.toThrow(unsupported("importing by command"));
});

test("retainOnDelete is inherited by children, unless a child sets it to false", async () => {
  const engine = new InProcessEngine();
  const parent = (retained: boolean) =>
    resource("p", {}, "case:index:Group").setCustom(false).setRetainondelete(retained);
  const urn = "urn:pulumi:test::case::case:index:Group::p";
  const child = (name: string) => resource(name).setParent(urn);
  await engine.register(parent(true), child("kept"), child("own").setRetainondelete(false));
  expect(engine.named((state) => state["retainOnDelete"])).toEqual(["p", "kept"]);
});

test("a preview and an up print steps with unknowns and secrets masked, and return the outputs in plain text", async () => {
  const engine = new InProcessEngine();
  const root = resource("case-test", {}, "pulumi:pulumi:Stack").setCustom(false);
  const runProgram = (dryRun: boolean) =>
    engine.run(
      async (monitor) => {
        const register = (request: pb.RegisterResourceRequest) =>
          call<pb.RegisterResourceResponse>((answer) => monitor.registerResource(request, answer));
        const urn = (await register(root)).getUrn();
        await register(
          resource("a", { from: dryRun ? UNKNOWN : "x", deep: [secret("hush")], __internal: 1 }),
        );
        const outputs = { id: "a", nested: { s: secret("hush") } };
        const request = new pb.RegisterResourceOutputsRequest().setUrn(urn).setOutputs(toStruct(outputs));
        await call((answer) => monitor.registerResourceOutputs(request, answer));
      },
      { dryRun },
    );
  const preview = (await runProgram(true)).text;
  expect(preview).toContain("Previewing update (test):");
  for (const line of ["random:index:Thing a create", "from: [unknown]", "deep: [secret]", "+ 2 to create"])
    expect(preview).toContain(line);
  const { text, outputs } = await runProgram(false);
  for (const line of ["Updating (test):", "    + 2 created"]) expect(text).toContain(line);
  expect(preview + text).not.toMatch(/hush|__internal/);
  expect(outputs).toMatchObject({ id: "a", nested: { s: secret("hush") } });
});

test("the state has each operation on disk while the provider runs it, at most eight at once", async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const engine = new InProcessEngine({
    newResource: async ({ name, inputs }) => {
      await released;
      return { id: name, state: inputs };
    },
  });
  const things = Array.from({ length: 12 }, (_, index) => resource(`s${index}`));
  const all = () =>
    engine.run((monitor) =>
      Promise.all(things.map((each) => call((answer) => monitor.registerResource(each, answer)))),
    );
  const run = all();
  await until(() => engine.state.pending_operations?.length === 8);
  release();
  await run;
  expect(engine.state.pending_operations).toBeUndefined();
  expect((await all()).changes).toEqual({ same: 12 });
});

test("the pending operations of a killed run are a warning, and stay until a refresh clears them", async () => {
  await using stack = await PulumiStack.create({ program: programFolder() });
  const urn = "urn:pulumi:test::case::random:index:Thing::a";
  const state = await stack.exportState();
  state.deployment.pending_operations = [
    { type: "creating", resource: { urn, type: "random:index:Thing", custom: true } },
  ];
  await stack.importState(state);
  const { diagnostics } = await stack.destroy();
  expect(diagnostics[0]?.message).toContain(
    `with 1 pending operations from previous deployment.\n  * ${urn}, interrupted while creating\n`,
  );
  const left = async () => (await stack.exportState()).deployment.pending_operations;
  expect(await left()).toMatchObject([{ type: "creating" }]);
  await stack.refresh({ clearPendingCreates: true });
  expect(await left()).toBeUndefined();
});

test("a state whose secrets are encrypted is not imported, because its secrets would be lost", async () => {
  await using stack = await PulumiStack.create({ program: programFolder() });
  const state = await stack.exportState();
  const urn = "urn:pulumi:test::case::random:index:Thing::a";
  const inputs = { pin: { [SIGNATURE]: SECRET, ciphertext: "v1:x" } };
  state.deployment.resources = [{ urn, type: "random:index:Thing", custom: true, inputs }];
  await expect(stack.importState(state)).rejects.toThrow("export it with --show-secrets");
  expect((await stack.exportState()).deployment.resources ?? []).toEqual([]);
});
