import { setImmediate } from "node:timers/promises";
import type * as pulumi from "@pulumi/pulumi";
import type { z } from "zod";
import { dynamicProvider } from "../../provider/dynamic";
import { endpointParsers } from "../../provider/endpoint/fields";
import { functions } from "../../provider/plugin/functions";
import { TYPES } from "../../provider/pulumi/typeTokens";
import { ApiError } from "../../provider/service/apiErrors";
import { HttpClient } from "../../provider/service/client";
import { type Clock, realClock } from "../../provider/service/clock";
import type { WireEndpoint } from "../../provider/service/contract";
import { EndpointsApi } from "../../provider/service/endpoints";
import { readSettings } from "../../provider/service/settings";
import * as warnings from "../policyWarnings";
import { plain } from "../pulumi-cli/index";
import { completeMocks } from "../test-engine/index";
import { webhooks } from "../webhooks/otherLanguages";
import { behaviourOf } from "./emulator/behaviour";
import { readQuery, routeOf } from "./emulator/routes";
import { completeSeed, type Seed } from "./emulator/seeds";
import { EmulatedClock } from "./emulator/serviceClock";
import { ServiceError } from "./emulator/serviceErrors";
import { Store } from "./emulator/store";

export interface EndpointMocksOptions {
  /** The account's endpoints before the program runs, as for `emulator.seed`. Default: none. */
  endpoints?: Seed[];
  /** Mocks for other packages. Default: the outputs of a resource are its inputs, and a call returns its arguments. */
  others?: Partial<pulumi.runtime.Mocks>;
}

export interface EndpointMocks extends pulumi.runtime.Mocks {
  /** A copy of the account's current endpoints, in the service's format, newest first. */
  readonly endpoints: WireEndpoint[];
}

/**
 * Mocks for `pulumi.runtime.setMocks`, for unit tests in milliseconds, without processes or HTTP. They run the provider's
 * code with the emulator's rules: resources get the outputs that the service would derive, data sources find the given
 * endpoints and those of the program, and invalid inputs fail.
 *
 * ```ts
 * await pulumi.runtime.setMocks(endpointMocks(), "shop", "dev");
 * const { shop } = await import("./index");
 * ```
 */
export function endpointMocks({ endpoints = [], others = {} }: EndpointMocksOptions = {}): EndpointMocks {
  const settings = readSettings((key) => SETTINGS[key], {});
  const clock = clockWithoutWaits();
  const time = new EmulatedClock(() => new Date(clock.now()));
  const store = new Store(settings.baseUrl, time, () => behaviourOf({}));
  for (const seed of endpoints) store.insert(completeSeed(structuredClone(seed), store));
  const api = new EndpointsApi(new StoreClient(settings, store, clock), endpointParsers);
  const provider = dynamicProvider({ service: () => api });
  const mocks = completeMocks(others);

  return {
    async newResource(args) {
      const { type, name, id, inputs } = args;
      if (!Object.values<string>(TYPES).includes(type)) return mocks.newResource(args);
      if (id) {
        const { props } = await provider.read(id, {});
        return { id, state: withoutNotes(props) };
      }
      // Pulumi passes secrets to mocks in the format of its protocol. The resource class also lists them in an input.
      const given = plain(inputs);
      // Pulumi removes unknown values from the inputs of mocks. Without the URL, no output is known.
      if (given["url"] === undefined && isPreview()) return { id: "", state: inputs };
      const checked = await provider.check({}, given);
      if (checked.failures.length > 0)
        throw new Error(`${name}: ${checked.failures.map(({ reason }) => reason).join("; ")}`);
      const { id: created, outs } = await provider.create(plain(checked.inputs));
      return { id: created, state: withoutNotes(outs) };
    },

    call: async (args) => {
      const called = functions[args.token];
      if (!called) return mocks.call(args);
      const on = { warn: console.warn, warningsMode: () => "on" as const };
      const deps = { ...on, api: () => api, webhooks, warnings };
      const inputs = plain(args.inputs);
      return called(inputs, deps, inputs).catch((error: unknown) => {
        // Pulumi takes the message of a failed call from this field of gRPC's errors.
        throw error instanceof Error ? Object.assign(error, { details: error.message }) : error;
      });
    },

    get endpoints() {
      return structuredClone(store.newestFirst() ?? []);
    },
  };
}

const SETTINGS: Record<string, string> = {
  "endpoints:apiKey": "mocked",
  "endpoints:baseUrl": "https://api.example.com",
};

/** A clock whose waits take no time, because nobody else changes the account of a unit test. */
function clockWithoutWaits(): Clock {
  let ahead = 0;
  return {
    ...realClock,
    now: () => realClock.now() + ahead,
    sleep: async (milliseconds) => {
      ahead += milliseconds;
      await setImmediate();
    },
  };
}

/** A client that answers requests from a store of the emulator, without HTTP. */
class StoreClient extends HttpClient {
  constructor(
    settings: HttpClient["settings"],
    private readonly store: Store,
    clock: Clock,
  ) {
    super(settings, { clock });
  }

  override async send<T extends z.ZodType>(
    request: Parameters<HttpClient["send"]>[0],
    reply: T,
  ): Promise<z.output<T>> {
    const { method, path, query = {} } = request;
    try {
      const { route, id } = routeOf(method, path);
      const answer = route.run({
        key: { store: this.store, mayList: true },
        behaviour: behaviourOf({}),
        id,
        query: readQuery(new URLSearchParams(query), route.query),
        body: { ...request.body },
      });
      return reply.parse(structuredClone(answer.body));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const { status, body } = error.answer("op_mocked");
      const failure = {
        status,
        code: body.error_code,
        message: body.msg,
        operationId: undefined,
        retryAfter: undefined,
      };
      throw new ApiError(request, failure, { keySource: "environment" });
    }
  }
}

/** The outputs without the provider's notes, such as the fingerprint of the account. */
const withoutNotes = (outputs: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(outputs).filter(([name]) => !name.startsWith("__")));

/** Loads Pulumi's SDK only here, since the rest of the test kit does not need it in this process. */
const isPreview = () => (require("@pulumi/pulumi") as typeof pulumi).runtime.isDryRun();
