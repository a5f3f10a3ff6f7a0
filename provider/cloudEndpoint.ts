import { changesOnAdoption, findAdoptable, reservedKey } from "./adoption";
import { isNotFound, isOfService, ReplyError, UserError } from "./api/apiErrors";
import type { Log } from "./api/client";
import type { LiveEndpoint, Mark, Owner } from "./api/contract";
import type { EndpointsApi } from "./api/endpoints";
import { oneLine } from "./api/foreignText";
import type { JsonObject } from "./api/json";
import { newNonce, ownerOf, parseMark } from "./api/mark";
import { type Checked, checkedInputs, checkInputs, PROVIDER_KEY, URN_KEY } from "./check";
import { isPublicService, type Settings } from "./config";
import { createOnce, UnreadableReply } from "./createOnce";
import { difference } from "./diff";
import { firstOf, hasUnknown } from "./document";
import {
  AlreadyManagedError,
  DeleteOfAdoptedError,
  EndpointNotFoundError,
  OperationError,
  PartialCreateError,
  ReservedKeyError,
  UpdateNotFoundError,
  WrongTypeError,
} from "./errors";
import { accountFingerprint, GoneCheck } from "./gone";
import { inputWarnings } from "./inputWarnings";
import { shownUrl } from "./markedSecrets";
import type { CloudEndpointInputs } from "./schema";
import {
  ACCOUNT_KEY,
  imported,
  isDescribed,
  MARK_KEY,
  outputsOf,
  partialOutputs,
  refreshed,
  type ServiceNotes,
  unchangedOutputs,
  wireChange,
  withChosen,
  withoutGaps,
} from "./state";

/** The configured service. */
export interface Service {
  api: EndpointsApi;
  settings: Settings;
}

interface Dependencies {
  /** Throws ConfigError if a setting is missing or invalid. */
  connect(): Service;
  log: Log;
}

export interface Decision {
  changes: boolean;
  replaces: string[];
  /** Always true: a URL belongs to one endpoint at a time. */
  deleteBeforeReplace: boolean;
}

/** The life of a cloud endpoint: each of Pulumi's operations in terms of the service. */
export class CloudEndpoints {
  /** The ids that this process adopted. A later step of the run must not delete one of them as the replaced endpoint. */
  private readonly adopted = new Set<string>();

  /**
   * The ids that resources of this run have, from their states or from a create, with the fingerprints of their accounts.
   * None of them is a stranger's.
   */
  private readonly known = new Map<string, unknown>();

  private readonly deleted = new Set<string>();
  private readonly gone = new GoneCheck(this.known);

  /** The ids that checked resources will adopt. A resource that already has one of them is a conflict. */
  private readonly toAdopt = new Set<string>();

  /** The warnings so far. The engine checks a resource again before it replaces it. */
  private readonly warned = new Set<string>();

  constructor(private readonly deps: Dependencies) {}

  /**
   * Finds all mistakes, and warns of values that the service may refuse. Before a first create with `adopt`, it logs the
   * changes of the adoption.
   */
  async check(olds: JsonObject, news: JsonObject): Promise<Checked> {
    const checked = checkInputs(news, olds);
    if (checked.failures.length > 0) return checked;

    try {
      // Finds a missing key or base URL at the preview, before anything is done.
      const { api, settings } = this.deps.connect();
      const inputs = checkedInputs(checked.inputs);
      for (const warning of inputWarnings(inputs, olds, isPublicService(settings.baseUrl)))
        this.warnOnce(`${shownUrl(inputs)}: ${warning}`);
      const isNew = Object.keys(olds).length === 0;
      if (isNew && inputs.adopt && !hasUnknown([inputs.adopt, inputs.url])) {
        await operation(`look for ${shownUrl(inputs)}`, () =>
          this.announceAdoption(api, inputs, this.ownerOf(news)),
        );
      }
      return checked;
    } catch (error) {
      // A failure of the check is printed once. The engine and the provider's process would both print an error.
      if (!(error instanceof UserError)) throw error;
      return { ...checked, failures: [{ input: "", reason: error.message }] };
    }
  }

  /** Compares the program's inputs with the state. Makes no request. */
  diff(id: string, olds: JsonObject, news: JsonObject): Decision {
    this.known.set(id, olds[ACCOUNT_KEY]);
    const isAdopters = this.adopted.has(id) && olds["adopt"] !== undefined;
    if (this.toAdopt.has(id) && !isAdopters) throw new AlreadyManagedError(id);
    const { changed, replace, stale } = difference(olds, checkedInputs(news));
    // Outputs from a plugin's state lack the provider string, without which Pulumi can neither read nor delete the resource.
    const unowned = news[PROVIDER_KEY] !== undefined && olds[PROVIDER_KEY] === undefined;
    return {
      changes: changed.length > 0 || stale || unowned,
      replaces: replace ? ["url"] : [],
      deleteBeforeReplace: true,
    };
  }

  async create(news: JsonObject): Promise<{ id: string; outs: JsonObject }> {
    const inputs = checkedInputs(news);
    const owner = this.ownerOf(news);
    const live = await operation(`create ${shownUrl(inputs)}`, async () => {
      const adopted = inputs.adopt ? await findAdoptable(this.deps.connect().api, inputs) : undefined;
      if (adopted) return this.takeOver(adopted, inputs, owner);
      const { live, leftover } = await this.createNew(inputs, owner, news[PROVIDER_KEY]);
      if (leftover) return this.takeOver(live, inputs, owner);
      // Two resources with one URL may both have found this endpoint if both lost their answers.
      this.registerId(live.id);
      return live;
    });
    try {
      return { id: live.id, outs: outputsOf(live, inputs, this.notes(live.createdFor)) };
    } catch (error) {
      // The endpoint exists even if its description is unusable.
      throw this.partialCreate(live.id, inputs, news[PROVIDER_KEY], error);
    }
  }

  /**
   * Reads the live endpoint.
   *
   * @returns An empty id if the endpoint is gone.
   * @throws UserError if the service does not find it, but nothing proves that it is gone.
   */
  async read(
    id: string,
    stored: JsonObject,
  ): Promise<{ id: string; props: JsonObject; inputs?: JsonObject }> {
    this.known.set(id, stored[ACCOUNT_KEY]);
    return operation(`read ${id}`, async () => {
      const api = this.deps.connect().api;
      try {
        const live = (await listed(api, id, stored)) ?? (await api.get(id));
        assertCloud(live);
        this.gone.answered(stored);
        return { id, ...refreshed(live, stored) };
      } catch (error) {
        if (!isNotFound(error)) throw error;
        // For a `get`, Pulumi would continue with an endpoint without outputs.
        const isGet = Object.keys(stored).every((key) => key === PROVIDER_KEY);
        if (isGet) throw isOfService(error) ? new EndpointNotFoundError(id) : error;
        await this.gone.confirm(this.deps.connect(), error, id, stored);
        return { id: "", props: {} };
      }
    });
  }

  /**
   * Reads an endpoint for an import. All of its fields count as given.
   *
   * @throws UserError if there is no such endpoint, or if it is no cloud endpoint.
   */
  async import(id: string): Promise<{ id: string; props: JsonObject; inputs: JsonObject }> {
    this.known.set(id, this.account());
    return operation(`import ${id}`, async () => {
      const live = await this.deps
        .connect()
        .api.get(id)
        .catch((error: unknown) => {
          throw isNotFound(error) && isOfService(error) ? new EndpointNotFoundError(id) : error;
        });
      assertCloud(live);
      const reserved = reservedKey(live);
      if (reserved !== undefined) throw new ReservedKeyError(id, reserved);
      return { id, ...imported(live, this.notes(live.createdFor)) };
    });
  }

  /** Sends the fields that differ. Makes no request if none does. */
  async update(id: string, olds: JsonObject, news: JsonObject): Promise<{ outs: JsonObject }> {
    const inputs = checkedInputs(news);
    const { changed } = difference(olds, inputs);
    this.known.set(id, olds[ACCOUNT_KEY]);
    return operation(`update ${id}`, async () => {
      if (changed.length === 0 && isDescribed(olds)) return { outs: unchangedOutputs(olds, inputs) };
      const api = this.deps.connect().api;
      const stored = parseMark(olds[MARK_KEY]);
      const mark = this.markOf(this.ownerOf(news), stored);
      const live = await (changed.length > 0
        ? api.update(id, wireChange(withChosen(inputs, olds), changed, mark))
        : api.get(id)
      ).catch((error: unknown) => {
        throw isNotFound(error) ? new UpdateNotFoundError(id, error) : error;
      });
      this.gone.answered(olds);
      const notes = this.notes(live.createdFor ?? stored);
      return { outs: outputsOf(live, inputs, notes, { before: olds, sent: changed }) };
    });
  }

  /** Deletes the endpoint. Succeeds if it is already gone. */
  async delete(id: string, stored: JsonObject): Promise<void> {
    this.known.set(id, stored[ACCOUNT_KEY]);
    if (this.adopted.has(id)) throw new DeleteOfAdoptedError(id);
    await operation(`delete ${id}`, async () => {
      const api = this.deps.connect().api;
      try {
        await api.delete(id);
        this.gone.answered(stored);
      } catch (error) {
        const notFound = error instanceof ReplyError ? await notFoundAfter(error, api, id) : error;
        if (!isNotFound(notFound)) throw notFound;
        await this.gone.confirm(this.deps.connect(), notFound, id, stored);
      }
      this.deleted.add(id);
    });
  }

  private async createNew(inputs: CloudEndpointInputs, owner: Owner | undefined, provider: unknown) {
    try {
      return await createOnce({
        ...this.deps.connect(),
        inputs,
        owner,
        isKnown: (id) => this.known.has(id),
        isDeleted: (id) => this.deleted.has(id),
        log: this.deps.log,
      });
    } catch (error) {
      if (!(error instanceof UnreadableReply)) throw error;
      this.known.set(error.id, this.account());
      throw this.partialCreate(error.id, inputs, provider, error.cause);
    }
  }

  private partialCreate(id: string, inputs: CloudEndpointInputs, provider: unknown, error: unknown) {
    const cause = error instanceof Error ? error : new Error(String(error));
    return new PartialCreateError(id, partialOutputs(inputs, provider, this.account()), cause);
  }

  /**
   * Makes a live endpoint this resource's, and changes what differs from the program.
   *
   * @throws AlreadyManagedError if another resource of this run has it.
   */
  private async takeOver(
    live: LiveEndpoint,
    inputs: CloudEndpointInputs,
    owner: Owner | undefined,
  ): Promise<LiveEndpoint> {
    this.registerId(live.id);
    const { sent } = changesOnAdoption(live, inputs, owner);
    const mark = this.markOf(owner, live.createdFor);
    const result =
      sent.length > 0 ? await this.deps.connect().api.update(live.id, wireChange(inputs, sent, mark)) : live;
    this.adopted.add(live.id);
    return result;
  }

  /** @throws AlreadyManagedError if another resource of this run has the endpoint. */
  private registerId(id: string): void {
    if (this.known.has(id)) throw new AlreadyManagedError(id);
    this.known.set(id, this.account());
  }

  /** The owner for the mark; undefined if creates are not marked. */
  private ownerOf(news: JsonObject): Owner | undefined {
    const namespace = this.deps.connect().settings.mark;
    const urn = news[URN_KEY];
    return namespace !== undefined && typeof urn === "string" ? ownerOf(namespace, urn) : undefined;
  }

  /** The mark that a change of metadata sends. Without `endpoints:mark` an existing mark stays. */
  private markOf(owner: Owner | undefined, stored: Mark | undefined): Mark | undefined {
    return owner ? { nonce: stored?.nonce ?? newNonce(), ...owner } : stored;
  }

  private warnOnce(message: string): void {
    if (!this.warned.has(message)) this.deps.log.warn(message);
    this.warned.add(message);
  }

  private account = (): string => accountFingerprint(this.deps.connect().settings);

  private notes = (mark: Mark | undefined): ServiceNotes => ({ account: this.account(), mark });

  /** Logs the changes of the adoption, because the engine can only show "create". Omits values, which may be secret. */
  private async announceAdoption(
    api: EndpointsApi,
    inputs: CloudEndpointInputs,
    owner: Owner | undefined,
  ): Promise<void> {
    const live = await findAdoptable(api, inputs);
    if (!live)
      return this.deps.log.info(
        `${shownUrl(inputs)}: there is no cloud endpoint to adopt, so one is created`,
      );
    if (this.known.has(live.id)) throw new AlreadyManagedError(live.id);
    this.toAdopt.add(live.id);
    const { places } = changesOnAdoption(live, inputs, owner);
    this.deps.log.info(
      places.length === 0
        ? `${shownUrl(inputs)}: adopts ${live.id} as it is`
        : `${shownUrl(inputs)}: adopts ${live.id}, and changes ${oneLine(api.http.cleaned(firstOf(places)))}`,
    );
  }
}

/** @throws WrongTypeError if the endpoint is no cloud endpoint. */
function assertCloud({ id, type }: LiveEndpoint): void {
  if (type !== undefined && type !== "cloud") throw new WrongTypeError(id, type);
}

/** After a deletion whose reply broke the contract: the 404 of a read, or that reply's error if the endpoint exists. */
const notFoundAfter = (error: ReplyError, api: EndpointsApi, id: string): Promise<unknown> =>
  api.get(id).then(
    () => error,
    (thrown: unknown) => thrown,
  );

/**
 * The endpoint as the list shows it. Undefined if it must be read by id: the state has no fields to fall back on, or the list
 * omits an input, which may have been cleared by hand.
 */
async function listed(api: EndpointsApi, id: string, stored: JsonObject): Promise<LiveEndpoint | undefined> {
  if (!isDescribed(stored)) return undefined;
  const item = await api.list.listed(id);
  return item && withoutGaps(item, stored);
}

/** Names the operation in the error if the work fails. */
async function operation<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UserError) || error instanceof PartialCreateError) throw error;
    throw new OperationError(name, error);
  }
}
