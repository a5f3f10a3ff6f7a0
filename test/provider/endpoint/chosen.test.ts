import { describe, expect, test } from "vitest";
import type { RecordedRequest } from "../../../sdk/testing";
import type { Edit, Emulator } from "../../../sdk/testing/emulator";
import { bothProviders, type DrivenProvider, type Props, startDynamic } from "../bothProviders";

/*
 * Drift of bindings and pooling that the program leaves to the service. Each step imitates the engine: a refresh reads,
 * and replaces outputs and inputs; an `up` checks, diffs, and updates if the diff reports a change.
 */

const open = "https://shop.example.com";
const internal = "https://shop.internal";

type Choice = Pick<Edit, "bindings" | "pooling_enabled">;

interface State {
  id: string;
  inputs: Props;
  outs: Props;
}

/** A service and the commands of a stack. Each command starts a new process of the provider. */
class Stack {
  readonly emulator: Emulator;

  constructor(private readonly provider: DrivenProvider) {
    this.emulator = provider.emulator;
  }

  async up(program: Props, state?: State): Promise<State> {
    const provider = await this.provider.restart();
    const { inputs } = await provider.check(state?.inputs ?? {}, program);
    if (!state) return { inputs, ...(await provider.create(inputs)) };
    const { id, outs } = state;
    const { changes } = await provider.diff(id, outs, inputs);
    return { id, inputs, outs: changes ? (await provider.update(id, outs, inputs)).outs : outs };
  }

  async refresh({ id, inputs, outs }: State): Promise<State> {
    const found = await (await this.provider.restart()).read(id, outs, inputs);
    return { id, outs: found.props ?? {}, inputs: found.inputs ?? {} };
  }

  /** Whether a preview of the program shows a change. */
  async hasChanges(program: Props, { id, inputs, outs }: State): Promise<boolean> {
    const provider = await this.provider.restart();
    return (await provider.diff(id, outs, (await provider.check(inputs, program)).inputs)).changes;
  }

  /** A new endpoint that somebody then edits, and its state before and after a refresh. */
  async drifted(program: Props, edit: Edit): Promise<{ id: string; created: State; drifted: State }> {
    const created = await this.up(program);
    this.emulator.edit(created.id, edit);
    return { id: created.id, created, drifted: await this.refresh(created) };
  }

  get patches(): unknown[] {
    return this.emulator.requests.filter(({ method }) => method === "PATCH").map(({ body }) => body);
  }
}

const EDITS: [string, string, Choice, Choice][] = [
  ["public instead of internal", internal, { bindings: ["public"] }, { bindings: ["internal"] }],
  ["pooled", open, { pooling_enabled: true }, { pooling_enabled: false }],
];

const asInput = ({ pooling_enabled: poolingEnabled, ...bindings }: Choice): Props =>
  poolingEnabled === undefined ? bindings : { poolingEnabled };

describe.each(bothProviders)("%s", (_, start) => {
  const newStack = async (): Promise<Stack> => new Stack(await start());

  describe.each(EDITS)("an endpoint that was made %s by hand", (_, url, edit, back) => {
    test("has the edit as an input until an `up` reverts it with one PATCH of that field", async () => {
      const stack = await newStack();
      const { id, drifted } = await stack.drifted({ url }, edit);
      expect(drifted.inputs).toEqual({ url, ...asInput(edit) });
      expect(await stack.hasChanges({ url }, drifted)).toBe(true);
      const again = await stack.refresh(drifted);
      expect(again).toEqual(drifted);

      const reverted = await stack.up({ url }, again);
      expect(stack.patches).toEqual([{ id, ...back }]);
      expect(stack.emulator.endpoints).toMatchObject([back]);
      expect(await stack.hasChanges({ url }, reverted)).toBe(false);
      expect((await stack.refresh(reverted)).inputs).toEqual({ url });
    });

    test("has no change after the edit was reverted by hand", async () => {
      const stack = await newStack();
      const { id, drifted } = await stack.drifted({ url }, edit);
      stack.emulator.edit(id, back);
      const healed = await stack.refresh(drifted);
      expect(healed.inputs).toEqual({ url });
      expect(await stack.hasChanges({ url }, healed)).toBe(false);
    });

    test("keeps the edit if the program has the same value or ignores changes of the field", async () => {
      const stack = await newStack();
      const { id, drifted } = await stack.drifted({ url }, edit);
      // With `ignoreChanges`, the engine replaces the program's inputs with those of the state.
      const program = drifted.inputs;
      expect(await stack.hasChanges(program, drifted)).toBe(false);
      const later = await stack.refresh(await stack.up(program, drifted));
      expect(await stack.hasChanges(program, later)).toBe(false);
      const described = await stack.up({ ...program, description: "x" }, later);
      expect(stack.patches).toEqual([{ id, description: "x" }]);
      expect(await stack.hasChanges({ ...program, description: "x" }, described)).toBe(false);
    });

    test("is still drifted after an update of another field", async () => {
      const stack = await newStack();
      const created = await stack.up({ url });
      stack.emulator.edit(created.id, edit);
      const program = { url, description: "x" };
      const updated = await stack.up(program, created);
      expect(await stack.hasChanges(program, updated)).toBe(true);
      expect((await stack.refresh(updated)).inputs).toEqual({ ...program, ...asInput(edit) });
      await stack.up(program, updated);
      expect(stack.patches).toEqual([
        { id: created.id, description: "x" },
        { id: created.id, ...back },
      ]);
    });

    test("is reverted to the program's last value if the program no longer has the field", async () => {
      const stack = await newStack();
      const created = await stack.up({ url, ...asInput(back) });
      const left = await stack.up({ url }, created);
      expect(stack.patches).toEqual([]);
      expect(await stack.hasChanges({ url }, left)).toBe(false);
      stack.emulator.edit(created.id, edit);
      const drifted = await stack.refresh(left);
      expect(drifted.inputs).toEqual({ url, ...asInput(edit) });
      await stack.up({ url }, drifted);
      expect(stack.patches).toEqual([{ id: created.id, ...back }]);
    });

    test("is reverted to the value at its adoption", async () => {
      const stack = await newStack();
      const { id } = stack.emulator.seed({ type: "cloud", url, ...back });
      const program = { url, adopt: true };
      const created = await stack.up(program);
      expect(await stack.hasChanges(program, created)).toBe(false);
      stack.emulator.edit(id, edit);
      const drifted = await stack.refresh(created);
      expect(drifted.inputs).toEqual({ ...program, ...asInput(edit) });
      await stack.up(program, drifted);
      expect(stack.patches).toEqual([{ id, ...back }]);
    });
  });
});

describe.each(bothProviders)("%s, on a service that never changes url and pooling_enabled", (_, start) => {
  const newStack = async (): Promise<Stack> => new Stack(await start({ fixedUrlAndPooling: true }));
  const remedy =
    /cannot update ep_\w+: PATCH .*ERR_NGROK_18014.*never changes url or poolingEnabled of an existing endpoint, give .* live value.*pulumi up --replace/;

  test("refuses to revert pooling by hand, and an `up` succeeds once the program has the live value", async () => {
    const stack = await newStack();
    const { drifted } = await stack.drifted({ url: open }, { pooling_enabled: true });
    for (let times = 0; times < 2; times++)
      await expect(stack.up({ url: open }, drifted)).rejects.toThrow(remedy);
    const sent = stack.patches.length;
    const program = { url: open, poolingEnabled: true };
    const settled = await stack.up(program, drifted);
    expect(stack.patches).toHaveLength(sent);
    expect(await stack.hasChanges(program, settled)).toBe(false);
    expect((await stack.refresh(settled)).inputs).toEqual(program);
  });

  test("refuses the program's change, and an `up` succeeds once the program has the live values", async () => {
    const stack = await newStack();
    const program = { url: open, poolingEnabled: false };
    const created = await stack.up(program);
    for (const change of [{ url: "https://shop2.example.com" }, { poolingEnabled: true }])
      await expect(stack.up({ ...program, ...change }, created)).rejects.toThrow(remedy);
    const described = await stack.up({ ...program, description: "x" }, created);
    expect(stack.patches.at(-1)).toEqual({ id: created.id, description: "x" });
    expect(await stack.hasChanges({ ...program, description: "x" }, described)).toBe(false);
  });

  test("refuses an adoption that would change pooling, and says how to go on", async () => {
    const stack = await newStack();
    const { id } = stack.emulator.seed({ type: "cloud", url: open });
    await expect(stack.up({ url: open, poolingEnabled: true, adopt: true })).rejects.toThrow(
      /never changes url or poolingEnabled of an existing endpoint, give the program the live value/,
    );
    expect((await stack.up({ url: open, adopt: true })).id).toBe(id);
  });

  test.each([
    [400, "ERR_NGROK_18017"],
    [400, "ERR_NGROK_2201"],
    [401, "ERR_NGROK_200"],
    [503, undefined],
  ])("does not say so after %i %s, which has another reason", async (status, error_code) => {
    const stack = await newStack();
    const created = await stack.up({ url: open });
    stack.emulator.intercept("update", { status, body: { error_code, msg: "no" } }, 99);
    const refused = stack.up({ url: "https://shop2.example.com", poolingEnabled: true }, created);
    await expect(refused).rejects.toThrow(/cannot update/);
    await expect(refused).rejects.not.toThrow(/--replace/);
  });
});

/* The rest depends on the core alone, so one provider is enough. */
describe("a service", () => {
  const newStack = async (service: Service = {}): Promise<Stack> => {
    const provider = await startDynamic();
    pretend(provider.emulator, service);
    return new Stack(provider);
  };

  test.each([
    ["refresh", { url: open }],
    ["up", { url: open, description: "x" }],
  ])(
    "causes the first %s after a create whose reply lacks its choice to note that",
    async (command, program) => {
      const stack = await newStack();
      const { id } = stack.emulator.seed({ type: "cloud", url: open, bindings: ["kubernetes"] });
      const bare = { id, inputs: program, outs: { url: open, __given: [] } };
      const described = await (command === "up" ? stack.up(program, bare) : stack.refresh(bare));
      expect(await stack.hasChanges(program, described)).toBe(false);
      stack.emulator.edit(id, { bindings: ["public"] });
      expect((await stack.refresh(described)).inputs).toEqual({ ...program, bindings: ["public"] });
    },
  );

  test("may choose bindings again if the program changes the URL, but not if somebody edits it by hand", async () => {
    const stack = await newStack({ decidesWithUrl: true });
    const created = await stack.up({ url: open });
    const moved = await stack.up({ url: internal }, created);
    expect(moved.outs).toMatchObject({ bindings: ["internal"] });
    expect(await stack.hasChanges({ url: internal }, moved)).toBe(false);
    expect((await stack.refresh(moved)).inputs).toEqual({ url: internal });

    stack.emulator.edit(created.id, { url: open, bindings: ["public"] });
    const drifted = await stack.refresh(moved);
    expect(drifted.inputs).toEqual({ url: open, bindings: ["public"] });
    const back = await stack.up({ url: internal }, drifted);
    expect(stack.patches).toEqual([
      { id: created.id, url: internal },
      { id: created.id, url: internal, bindings: ["internal"] },
    ]);
    expect(await stack.hasChanges({ url: internal }, back)).toBe(false);
  });

  test("gets its choice back with the program's change of the URL if a refresh found the edit before", async () => {
    const stack = await newStack();
    const { id, drifted } = await stack.drifted({ url: internal }, { bindings: ["public"] });
    const program = { url: "https://shop2.internal" };
    const moved = await stack.up(program, drifted);
    expect(stack.patches).toEqual([{ id, ...program, bindings: ["internal"] }]);
    expect(await stack.hasChanges(program, moved)).toBe(false);
  });

  test("can return bindings in another order, or an empty list, without a change", async () => {
    const stack = await newStack();
    const created = await stack.up({ url: open, bindings: ["public", "internal"] });
    const left = await stack.up({ url: open }, created);
    for (const bindings of [["internal", "public"], []]) {
      stack.emulator.edit(created.id, { bindings });
      const other = await stack.refresh(left);
      expect(other.inputs).toEqual({ url: open });
      expect(await stack.hasChanges({ url: open }, other)).toBe(false);
    }
  });

  describe.each([
    ["by id", ({ byId }: Kind) => byId],
    ["to writes", ({ write }: Kind) => write],
    ["in lists", ({ byId, write }: Kind) => !byId && !write],
    ["by id and in lists", ({ write }: Kind) => !write],
    ["everywhere", () => true],
  ])("that omits its choices %s", (_, omits) => {
    test.each([
      { url: open },
      { url: internal },
      { url: open, poolingEnabled: true },
      { url: internal, bindings: ["internal"] },
    ])("causes no change if the program removes its choices later: %j", async (program) => {
      const stack = await newStack({ omits });
      const { url } = program;
      let state = await stack.up(program);
      // A given field that the service never shows differs in each run. A field that is not given does not.
      state = await stack.refresh(await stack.up({ url }, state));
      for (const next of [{ url }, { url, description: "x" }, { url: url.replace("shop", "shop2") }]) {
        state = await stack.up(next, state);
        expect(await stack.hasChanges(next, state)).toBe(false);
        state = await stack.refresh(state);
        expect(state.inputs).toEqual(next);
        expect(await stack.hasChanges(next, state)).toBe(false);
      }
      expect(stack.patches).toEqual([
        { id: state.id, description: "x" },
        { id: state.id, description: "", url: url.replace("shop", "shop2") },
      ]);
    });
  });

  test("that omits its choice in replies to writes causes the first read to note it", async () => {
    const stack = await newStack({ omits: ({ write }) => write });
    const created = await stack.refresh(await stack.up({ url: internal }));
    stack.emulator.edit(created.id, { bindings: ["public"] });
    const drifted = await stack.refresh(created);
    expect(drifted.inputs).toEqual({ url: internal, bindings: ["public"] });
    const reverted = await stack.up({ url: internal }, drifted);
    expect(stack.patches).toEqual([{ id: created.id, bindings: ["internal"] }]);
    expect(await stack.hasChanges({ url: internal }, reverted)).toBe(false);
  });

  test("that omits `pooling_enabled: false` causes no change if the program gives it", async () => {
    const stack = await newStack({ omitsOff: true });
    const program = { url: open, poolingEnabled: false };
    expect(await stack.hasChanges(program, await stack.up(program))).toBe(false);
  });

  test("that omits `pooling_enabled: false` has chosen no pooling", async () => {
    const stack = await newStack({ omitsOff: true });
    const { id, drifted } = await stack.drifted({ url: open }, { pooling_enabled: true });
    expect(drifted.inputs).toEqual({ url: open, poolingEnabled: true });
    const reverted = await stack.up({ url: open }, drifted);
    expect(stack.patches).toEqual([{ id, pooling_enabled: false }]);
    expect(await stack.hasChanges({ url: open }, reverted)).toBe(false);
    expect((await stack.refresh(reverted)).inputs).toEqual({ url: open });
  });
});

/** The kind of a request: for an endpoint by its id, a write, or otherwise a list. */
interface Kind {
  byId: boolean;
  write: boolean;
}

interface Service {
  /** Which replies omit `bindings` and `pooling_enabled`. */
  omits?: (kind: Kind) => boolean;
  /** Omits `pooling_enabled` if it is false. */
  omitsOff?: boolean;
  /** Chooses the bindings again if the URL changes. */
  decidesWithUrl?: boolean;
}

/** Makes the emulator behave like this service. */
function pretend(emulator: Emulator, { omits, omitsOff = false, decidesWithUrl = false }: Service): void {
  const body = (real: Props, { method, path, body: sent }: RecordedRequest) => {
    const isOmitted = omits?.({ write: method !== "GET", byId: method === "GET" && path.includes("ep_") });
    const shown = ({ bindings, pooling_enabled, ...rest }: Props): Props => ({
      ...rest,
      ...(!isOmitted && { bindings }),
      ...(!isOmitted && (pooling_enabled || !omitsOff) && { pooling_enabled }),
    });
    const { url, ...others } = (method === "PATCH" ? sent : {}) as Props;
    if (decidesWithUrl && url !== undefined && !("bindings" in others)) {
      const bindings = [String(url).endsWith(".internal") ? "internal" : "public"];
      emulator.edit(String(real["id"]), { bindings });
      return shown({ ...real, bindings });
    }
    const { endpoints } = real;
    return Array.isArray(endpoints) ? { ...real, endpoints: endpoints.map(shown) } : shown(real);
  };
  emulator.intercept(() => true, { afterCommit: true, body }, Number.POSITIVE_INFINITY);
}
