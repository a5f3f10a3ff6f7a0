import { describe, expect, test } from "vitest";
import type { RecordedRequest } from "../../sdk/testing";
import type { Edit, Emulator } from "../../sdk/testing/emulator";
import { bothProviders, type DrivenProvider, type Props, startDynamic } from "./bothProviders";

/*
 * What a program leaves to the service, and somebody edits by hand. Each step is what the engine does: a refresh reads and
 * replaces outputs and inputs, an `up` checks, diffs, and updates only where the diff says so.
 */

const open = "https://shop.example.com";
const internal = "https://shop.internal";

type Choice = Pick<Edit, "bindings" | "pooling_enabled">;

interface State {
  id: string;
  inputs: Props;
  outs: Props;
}

/** A service, and commands against it: each is a process of its own, which has seen nothing yet. */
class World {
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

  /** Whether a preview of the program shows anything. */
  async shows(program: Props, { id, inputs, outs }: State): Promise<boolean> {
    const provider = await this.provider.restart();
    return (await provider.diff(id, outs, (await provider.check(inputs, program)).inputs)).changes;
  }

  get patches(): unknown[] {
    return this.emulator.requests.filter(({ method }) => method === "PATCH").map(({ body }) => body);
  }
}

const EDITS: [string, string, Choice, Choice][] = [
  ["public where the service chose internal", internal, { bindings: ["public"] }, { bindings: ["internal"] }],
  ["pooled", open, { pooling_enabled: true }, { pooling_enabled: false }],
];

const asInput = ({ pooling_enabled: poolingEnabled, ...bindings }: Choice): Props =>
  poolingEnabled === undefined ? bindings : { poolingEnabled };

describe.each(bothProviders)("%s", (_, start) => {
  const world = async (): Promise<World> => new World(await start());

  describe.each(EDITS)("an endpoint made %s by hand", (_, url, edit, back) => {
    test("is read as such until one PATCH of exactly that puts it back", async () => {
      const w = await world();
      const made = await w.up({ url });
      w.emulator.edit(made.id, edit);
      const seen = await w.refresh(made);
      expect(seen.inputs).toEqual({ url, ...asInput(edit) });
      expect(await w.shows({ url }, seen)).toBe(true);
      const again = await w.refresh(seen);
      expect(again).toEqual(seen);

      const mended = await w.up({ url }, again);
      expect(w.patches).toEqual([{ id: made.id, ...back }]);
      expect(w.emulator.endpoints).toMatchObject([back]);
      expect(await w.shows({ url }, mended)).toBe(false);
      expect((await w.refresh(mended)).inputs).toEqual({ url });
    });

    test("and put back by hand is as it was", async () => {
      const w = await world();
      const made = await w.up({ url });
      w.emulator.edit(made.id, edit);
      const seen = await w.refresh(made);
      w.emulator.edit(made.id, back);
      const healed = await w.refresh(seen);
      expect(healed.inputs).toEqual({ url });
      expect(await w.shows({ url }, healed)).toBe(false);
    });

    test("stays so where the program writes it, or ignores its changes: nothing is sent, and nothing is shown", async () => {
      const w = await world();
      const made = await w.up({ url });
      w.emulator.edit(made.id, edit);
      const seen = await w.refresh(made);
      // With `ignoreChanges` the engine takes the state's inputs for the program's.
      const program = seen.inputs;
      expect(await w.shows(program, seen)).toBe(false);
      const later = await w.refresh(await w.up(program, seen));
      expect(await w.shows(program, later)).toBe(false);
      const described = await w.up({ ...program, description: "x" }, later);
      expect(w.patches).toEqual([{ id: made.id, description: "x" }]);
      expect(await w.shows({ ...program, description: "x" }, described)).toBe(false);
    });

    test("without anybody's notice is not taken over by an update of something else", async () => {
      const w = await world();
      const made = await w.up({ url });
      w.emulator.edit(made.id, edit);
      const program = { url, description: "x" };
      const updated = await w.up(program, made);
      expect(await w.shows(program, updated)).toBe(true);
      expect((await w.refresh(updated)).inputs).toEqual({ ...program, ...asInput(edit) });
      await w.up(program, updated);
      expect(w.patches).toEqual([
        { id: made.id, description: "x" },
        { id: made.id, ...back },
      ]);
    });

    test("after the program gave it and takes it out is drift from what was there then", async () => {
      const w = await world();
      const made = await w.up({ url, ...asInput(back) });
      const left = await w.up({ url }, made);
      expect(w.patches).toEqual([]);
      expect(await w.shows({ url }, left)).toBe(false);
      w.emulator.edit(made.id, edit);
      const seen = await w.refresh(left);
      expect(seen.inputs).toEqual({ url, ...asInput(edit) });
      await w.up({ url }, seen);
      expect(w.patches).toEqual([{ id: made.id, ...back }]);
    });

    test("after an adoption is drift from what was adopted", async () => {
      const w = await world();
      const { id } = w.emulator.seed({ type: "cloud", url, ...back });
      const program = { url, adopt: true };
      const made = await w.up(program);
      expect(await w.shows(program, made)).toBe(false);
      w.emulator.edit(id, edit);
      const seen = await w.refresh(made);
      expect(seen.inputs).toEqual({ ...program, ...asInput(edit) });
      await w.up(program, seen);
      expect(w.patches).toEqual([{ id, ...back }]);
    });
  });
});

/* What follows is the core's, whatever drives it. */
describe("a service behind the core", () => {
  const world = async (service: Service = {}): Promise<World> => {
    const provider = await startDynamic();
    pretend(provider.emulator, service);
    return new World(provider);
  };

  test.each([
    ["refresh", {}, (w: World, _: Props, partial: State) => w.refresh(partial)],
    ["up", { description: "x" }, (w: World, program: Props, partial: State) => w.up(program, partial)],
  ])(
    "has chosen for a partial create what the %s shows that describes it first",
    async (_, more, describe) => {
      const w = await world();
      const { id } = w.emulator.seed({ type: "cloud", url: open, bindings: ["kubernetes"] });
      const program = { url: open, ...more };
      const described = await describe(w, program, { id, inputs: program, outs: { url: open, __given: [] } });
      expect(await w.shows(program, described)).toBe(false);
      w.emulator.edit(id, { bindings: ["public"] });
      expect((await w.refresh(described)).inputs).toEqual({ ...program, bindings: ["public"] });
    },
  );

  test("may choose again with another URL of the program, not with one that was edited by hand", async () => {
    const w = await world({ decidesWithUrl: true });
    const made = await w.up({ url: open });
    const moved = await w.up({ url: internal }, made);
    expect(moved.outs).toMatchObject({ bindings: ["internal"] });
    expect(await w.shows({ url: internal }, moved)).toBe(false);
    expect((await w.refresh(moved)).inputs).toEqual({ url: internal });

    w.emulator.edit(made.id, { url: open, bindings: ["public"] });
    const seen = await w.refresh(moved);
    expect(seen.inputs).toEqual({ url: open, bindings: ["public"] });
    const back = await w.up({ url: internal }, seen);
    expect(w.patches).toEqual([
      { id: made.id, url: internal },
      { id: made.id, url: internal, bindings: ["internal"] },
    ]);
    expect(await w.shows({ url: internal }, back)).toBe(false);
  });

  test("gets its choice back with another URL of the program, where its edit was seen before", async () => {
    const w = await world();
    const made = await w.up({ url: internal });
    w.emulator.edit(made.id, { bindings: ["public"] });
    const program = { url: "https://shop2.internal" };
    const moved = await w.up(program, await w.refresh(made));
    expect(w.patches).toEqual([{ id: made.id, ...program, bindings: ["internal"] }]);
    expect(await w.shows(program, moved)).toBe(false);
  });

  test("makes no other choice with another order of bindings, or with an empty list", async () => {
    const w = await world();
    const made = await w.up({ url: open, bindings: ["public", "internal"] });
    const left = await w.up({ url: open }, made);
    w.emulator.edit(made.id, { bindings: ["internal", "public"] });
    const turned = await w.refresh(left);
    expect(turned.inputs).toEqual({ url: open });
    expect(await w.shows({ url: open }, turned)).toBe(false);
    w.emulator.edit(made.id, { bindings: [] });
    const emptied = await w.refresh(left);
    expect(emptied.inputs).toEqual({ url: open });
    expect(await w.shows({ url: open }, emptied)).toBe(false);
  });

  describe.each([
    ["by id", ({ byId }: Kind) => byId],
    ["to writes", ({ write }: Kind) => write],
    ["in lists", ({ byId, write }: Kind) => !byId && !write],
    ["by id and in lists", ({ write }: Kind) => !write],
    ["everywhere", () => true],
  ])("that leaves its choices out %s", (_, omits) => {
    test.each([
      { url: open },
      { url: internal },
      { url: open, poolingEnabled: true },
      { url: internal, bindings: ["internal"] },
    ])("shows no change of %j that is left out later, before or after a refresh", async (program) => {
      const w = await world({ omits });
      const { url } = program;
      let state = await w.up(program);
      // What is given and never shown is a difference for ever; what is not given is none.
      state = await w.refresh(await w.up({ url }, state));
      for (const next of [{ url }, { url, description: "x" }, { url: url.replace("shop", "shop2") }]) {
        state = await w.up(next, state);
        expect(await w.shows(next, state)).toBe(false);
        state = await w.refresh(state);
        expect(state.inputs).toEqual(next);
        expect(await w.shows(next, state)).toBe(false);
      }
      expect(w.patches).toEqual([
        { id: state.id, description: "x" },
        { id: state.id, description: "", url: url.replace("shop", "shop2") },
      ]);
    });
  });

  test("that shows no choice in its replies to writes has chosen what the first read shows", async () => {
    const w = await world({ omits: ({ write }) => write });
    const made = await w.refresh(await w.up({ url: internal }));
    w.emulator.edit(made.id, { bindings: ["public"] });
    const seen = await w.refresh(made);
    expect(seen.inputs).toEqual({ url: internal, bindings: ["public"] });
    const mended = await w.up({ url: internal }, seen);
    expect(w.patches).toEqual([{ id: made.id, bindings: ["internal"] }]);
    expect(await w.shows({ url: internal }, mended)).toBe(false);
  });

  test("that leaves out what is off has not pooled what it does not call pooled", async () => {
    const w = await world({ omitsOff: true });
    const made = await w.up({ url: open });
    w.emulator.edit(made.id, { pooling_enabled: true });
    const seen = await w.refresh(made);
    expect(seen.inputs).toEqual({ url: open, poolingEnabled: true });
    const mended = await w.up({ url: open }, seen);
    expect(w.patches).toEqual([{ id: made.id, pooling_enabled: false }]);
    expect(await w.shows({ url: open }, mended)).toBe(false);
    expect((await w.refresh(mended)).inputs).toEqual({ url: open });
  });
});

/** What a reply answers: a request for one endpoint by its id, one that writes, or neither: a list. */
interface Kind {
  byId: boolean;
  write: boolean;
}

interface Service {
  /** Where `bindings` and `pooling_enabled` are left out. */
  omits?: (kind: Kind) => boolean;
  /** Leaves `pooling_enabled` out where it is false. */
  omitsOff?: boolean;
  /** Gives an endpoint whose URL changes the bindings of the new one. */
  decidesWithUrl?: boolean;
}

/** Lets the emulator answer as this service does. */
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
