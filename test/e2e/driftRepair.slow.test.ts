import { expect, onTestFinished, test } from "vitest";
import { type Edit, Emulator } from "../../sdk/testing";
import { drift } from "../commands/drift/driftRun";
import { endpoint, idOf, policy } from "./driftPrograms";
import { edit, onKit, PLUGIN } from "./setup";

/** Endpoints without bindings and pooling in the program, and edits of the service's choices. */
const CHOSEN: [name: string, endpoint: string, change: Edit][] = [
  ["l-public", endpoint("l-public", { url: "https://l-public.internal" }), { bindings: ["public"] }],
  [
    "m-pooled",
    endpoint(
      "m-pooled",
      { url: "https://m-pooled.internal" },
      "{ deleteBeforeReplace: true }",
      "PluginEndpoint",
    ),
    {
      pooling_enabled: true,
      bindings: ["public"],
      traffic_policy: JSON.stringify(policy(403, "CANARY")),
    },
  ],
];
onKit("drift", (start) => {
  test("is reported for the other endpoints if one cannot be checked, and the check fails", async () => {
    const stack = await start([endpoint("a"), endpoint("b")].join("\n"));
    await stack.up();
    const { emulator } = stack;
    const b = idOf(emulator, "b");
    emulator.edit(idOf(emulator, "a"), { description: "by hand" });
    // The list lacks b, and a read by its id is refused.
    const withoutB = (real: object) => ({
      ...real,
      endpoints: Object(real).endpoints.filter(({ id }: { id: string }) => id !== b),
    });
    emulator.intercept("list", { afterCommit: true, body: withoutB }, 9);
    emulator.intercept(({ path }) => path.endsWith(b), { status: 401, body: { error_code: "ERR_NGROK_9" } });
    const refused = await drift(stack);
    expect(refused.code, refused.stdout).toBe(3);
    expect(refused.report.outcome).toBe("unchecked");
    expect(refused.report.stacks[0]).toMatchObject({
      drifted: [{ name: "a" }],
      unchecked: [{ what: `b (${b})`, authentication: true }],
    });
    expect(refused.stdout).toMatch(/unchecked test: b \(ep_\w+\): .*status 401/);
    expect(refused.page).toContain(`b (${b})`);
  });
});

onKit("a repair", (start) => {
  test("deploys no new change of the program, and reports the endpoints that it skipped", async () => {
    const stack = await start([endpoint("a"), endpoint("b"), endpoint("c"), endpoint("d")].join("\n"));
    await stack.up();
    for (const name of ["a", "b", "c"])
      stack.emulator.edit(idOf(stack.emulator, name), { description: "by hand" });
    edit(
      stack,
      [endpoint("a"), endpoint("b", { metadata: "new" }), endpoint("d", { metadata: "new" })].join("\n"),
    );

    const marked = stack.emulator.requests.length;
    const fixed = await drift(stack, { args: ["--fix"] });
    expect(fixed.code, fixed.stdout).toBe(1);
    expect(fixed.report.outcome).toBe("unrepaired");
    const writes = stack.emulator.requests.slice(marked).filter(({ method }) => method !== "GET");
    expect(writes.map(({ method, body }) => ({ method, body }))).toEqual([
      { method: "PATCH", body: { id: idOf(stack.emulator, "a"), description: "" } },
    ]);
    expect(fixed.report.stacks[0]?.drifted.map(({ name, repair }) => [name, repair?.done])).toEqual([
      ["a", true],
      ["b", false],
      ["c", false],
    ]);
    expect(fixed.stdout).toMatch(/b[\s\S]*not repaired: the program differs from the state/);
    expect(fixed.stdout).toMatch(/c[\s\S]*not repaired: the program does not have this endpoint any more/);
    // The next check still reports the skipped endpoints.
    expect((await drift(stack)).report.stacks[0]?.drifted.map(({ name }) => name)).toEqual(["b", "c"]);
  });

  test("skips an endpoint that the program has renamed, and its drift is still reported", async () => {
    const stack = await start(endpoint("b"));
    await stack.up();
    stack.emulator.edit(idOf(stack.emulator, "b"), { description: "by hand" });
    edit(
      stack,
      `new CloudEndpoint("c", ${JSON.stringify({ url: "https://b.example.com", trafficPolicy: policy(404) })}, { aliases: [{ name: "b" }] });`,
    );

    const before = await stack.exportState();
    const fixed = await drift(stack, { args: ["--fix"] });
    expect(fixed.code, fixed.stdout).toBe(1);
    expect(fixed.stdout).toContain("not repaired: the program does not have this endpoint any more");
    expect((await stack.exportState()).deployment.resources).toEqual(before.deployment.resources);
    expect((await drift(stack)).code).toBe(7);
  });

  test("never adopts another endpoint on the URL of a deleted one", async () => {
    const stack = await start(endpoint("a", { adopt: true }));
    await stack.up();
    stack.emulator.remove(idOf(stack.emulator, "a"));
    const other = stack.emulator.seed({ type: "cloud", url: "https://a.example.com", metadata: "theirs" });

    const marked = stack.emulator.requests.length;
    const fixed = await drift(stack, { args: ["--fix"] });
    expect(fixed.code, fixed.stdout).toBe(1);
    expect(fixed.stdout).toContain(
      "not repaired: the program would adopt any endpoint that is on this URL now: remove `adopt`, then run `pulumi up --refresh`",
    );
    const writes = stack.emulator.requests.slice(marked).filter(({ method }) => method !== "GET");
    expect(writes).toEqual([]);
    expect(stack.emulator.endpoints).toEqual([other]);
    expect((await drift(stack)).report.stacks[0]?.drifted.map(({ drift }) => drift)).toEqual(["deleted"]);
  });

  test.each(["CloudEndpoint", "PluginEndpoint"])(
    "of a %s that is gone and whose program keeps its id in adopt, is left out with the remedy, and the rest is repaired",
    async (type) => {
      const emulator = await Emulator.start();
      onTestFinished(() => emulator.close());
      const names = ["a", "b", "c", "d"];
      const adopted = names.map((name) => {
        const { id } = emulator.seed({ type: "cloud", url: `https://${name}.example.com` });
        return endpoint(name, { adopt: id }, "{}", type);
      });
      const programOf = (all: string[]) => [PLUGIN, ...all].join("\n");
      const stack = await start(programOf(adopted), { emulator });
      await stack.up();
      const gone = idOf(emulator, "a");
      emulator.remove(gone);
      for (const name of ["b", "c", "d"]) emulator.edit(idOf(emulator, name), { description: "by hand" });

      const marked = emulator.requests.length;
      const fixed = await drift(stack, { args: ["--fix"] });
      expect(fixed.code, fixed.stdout).toBe(1);
      const writes = emulator.requests.slice(marked).filter(({ method }) => method !== "GET");
      expect(writes.map(({ method }) => method)).toEqual(["PATCH", "PATCH", "PATCH"]);
      expect(fixed.report.stacks[0]?.drifted.map(({ name, repair }) => [name, repair?.done])).toEqual([
        ["a", false],
        ["b", true],
        ["c", true],
        ["d", true],
      ]);
      expect(fixed.stdout.match(/not repaired: .*/g)).toEqual([
        `not repaired: it was deployed with adopt: "${gone}", so it cannot be created again: remove \`adopt\`, then run \`pulumi up --refresh\``,
      ]);

      // The remedy.
      edit(stack, programOf([endpoint("a", {}, "{}", type), ...adopted.slice(1)]));
      await stack.up({ refresh: true });
      expect((await drift(stack)).code).toBe(0);
    },
  );

  test("fails with the exit code for a refused key if the service refuses the write", async () => {
    const stack = await start(endpoint("a"));
    await stack.up();
    stack.emulator.edit(idOf(stack.emulator, "a"), { description: "by hand" });
    stack.emulator.intercept(({ method }) => method === "PATCH", {
      status: 403,
      body: { error_code: "ERR_NGROK_9", msg: "The key lacks the permission." },
    });

    const fixed = await drift(stack, { args: ["--fix"] });
    expect(fixed.code, fixed.stdout).toBe(3);
    expect(fixed.report.outcome).toBe("unrepaired");
    expect(fixed.stdout).toMatch(/not repaired: .*status 403.*[^.]\. The state may already hold/);
  });
});

onKit("drift of the service's choices", (start) => {
  test("is reported with the original choice, and reverted", async () => {
    const stack = await start([PLUGIN, ...CHOSEN.map(([, text]) => text), endpoint("n-kept")].join("\n"));
    await stack.up();
    for (const [name, , change] of CHOSEN) {
      const { id = "" } =
        stack.emulator.endpoints.find(({ url }) => url === `https://${name}.internal`) ?? {};
      stack.emulator.edit(id, change);
    }
    const marked = stack.emulator.requests.length;
    const found = await drift(stack);
    expect(found.code).toBe(7);
    expect(JSON.stringify(found)).not.toContain("CANARY");
    const action = "trafficPolicy.on_http_request[0].actions[0].config";
    expect(stack.emulator.requests.slice(marked).filter(({ method }) => method !== "GET")).toEqual([]);
    expect(
      found.report.stacks[0]?.drifted.map(({ name, changes }) => [
        name,
        changes.map(({ path, kind, expected, live }) => [path, kind, expected, live]),
      ]),
    ).toEqual([
      ["l-public", [["bindings", "changed", ["internal"], ["public"]]]],
      [
        "m-pooled",
        [
          ["bindings", "changed", ["internal"], ["public"]],
          ["poolingEnabled", "changed", false, true],
          [`${action}.secret`, "added", undefined, "[secret]"],
          [`${action}.status_code`, "changed", 404, 403],
        ],
      ],
    ]);

    const fixed = await drift(stack, { args: ["--fix"] });
    expect(fixed.code, fixed.stdout).toBe(0);
    expect(fixed.stdout).toContain("2 repaired");
    const chosen = stack.emulator.endpoints.filter(({ url }) => url?.endsWith(".internal"));
    expect(chosen).toMatchObject([
      { bindings: ["internal"], pooling_enabled: false },
      { bindings: ["internal"], pooling_enabled: false, traffic_policy: expect.stringContaining("404") },
    ]);
    expect((await drift(stack)).code).toBe(0);
    await stack.preview({ expectNoChanges: true });
  });
});

onKit("drift of pooling on a service that never changes it", (start) => {
  test.each(["CloudEndpoint", "PluginEndpoint"])(
    "of a %s is not repaired by --fix, which says what to do, and then a replacement repairs it",
    async (type) => {
      const a = endpoint("a", {}, "{ deleteBeforeReplace: true }", type);
      const stack = await start([PLUGIN, a].join("\n"));
      await stack.up();
      stack.emulator.behave({ fixedUrlAndPooling: true });
      stack.emulator.edit(idOf(stack.emulator, "a"), { pooling_enabled: true });

      const fixed = await drift(stack, { args: ["--fix"] });
      expect(fixed.code, fixed.stdout).toBe(1);
      const reason = fixed.report.stacks[0]?.drifted[0]?.repair?.reason ?? "";
      expect(reason).toMatch(
        /give the program the live value, or replace the endpoint: `pulumi up --replace`/,
      );
      expect(reason).toMatch(/only `pulumi preview` shows this drift$/);

      await stack.up({ replace: ["a"] });
      expect(stack.emulator.endpoints).toMatchObject([{ pooling_enabled: false }]);
      expect((await drift(stack)).code).toBe(0);
      await stack.preview({ expectNoChanges: true });
    },
  );
});
