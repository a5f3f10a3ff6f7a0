import { isNotFound, isOfService, ReplyError, UserError } from "../api/apiErrors";
import type { Log } from "../api/client";
import type { LiveEndpoint, Mark, Owner } from "../api/contract";
import type { EndpointsApi } from "../api/endpoints";
import type { JsonObject } from "../api/json";
import { foreignOwner, ownerText, parseMark, randomNumber, stackText } from "../api/mark";
import { isPublicService, type Settings, SettingsError } from "../api/settings";
import { oneLine } from "../api/text";
import { type Checked, checkedInputs, checkInputs, inputWarnings, PROVIDER_KEY, URN_KEY } from "./check";
import { changesOnAdoption, findAdoptable, reservedKeyProblem, sendToFreeUrl } from "./conflicts";
import { createOnce, UnreadableReply } from "./create";
import { firstOf, hasUnknown, UNKNOWN } from "./documents";
import { Entries } from "./entries";
import {
  alreadyManaged,
  endpointNotFound,
  importedFromElsewhere,
  managedElsewhere,
  OperationError,
  PartialCreateError,
  refusedChange,
  reservedKey,
  takeOverFailed,
  UrlCircleError,
  updateNotFound,
  wrongType,
} from "./errors";
import { type CloudEndpointInputs, type ManagedInput, managedInputs } from "./fields";
import { accountFingerprint, GoneCheck } from "./gone";
import { hasSecrets, shownUrl } from "./secrets";
import {
  assertReadable,
  difference,
  ENTRY_KEY,
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
  private readonly entries = new Entries();
  private readonly gone = new GoneCheck(this.entries.accounts);
  /** The warnings so far. The engine checks a resource again before it replaces it. */
  private readonly warned = new Set<string>();
  private imports = 0;

  constructor(private readonly deps: Dependencies) {}

  /**
   * Finds all mistakes, and warns of values that the service may refuse. Before a first create with `adopt`, it logs the
   * changes of the adoption.
   */
  async check(olds: JsonObject, news: JsonObject): Promise<Checked> {
    this.entries.asks++;
    const checked = checkInputs(news, olds);
    if (checked.failures.length > 0) return checked;

    try {
      // Finds a missing key or base URL at the preview, before anything is done.
      const { settings } = this.deps.connect();
      const inputs = checkedInputs(checked.inputs);
      for (const warning of inputWarnings(inputs, olds, {
        isPublicService: isPublicService(settings.baseUrl),
      }))
        this.warnOnce(`${shownUrl(inputs)}: ${warning}`);
      const isNew = Object.keys(olds).length === 0;
      if (isNew && inputs.adopt && !hasUnknown([inputs.adopt, inputs.adoptFrom, inputs.url])) {
        await operation(`adopt ${shownUrl(inputs)}`, () => this.announceAdoption(inputs, this.ownerOf(news)));
      }
      return checked;
    } catch (error) {
      // A failure of the check is printed once. The engine and the provider's process would both print an error.
      if (!(error instanceof UserError)) throw error;
      const all = error instanceof SettingsError ? error.problems : [error];
      return { ...checked, failures: all.map(({ message }) => ({ input: "", reason: message })) };
    }
  }

  /** Compares the program's inputs with the state. Makes no request. */
  diff(id: string, olds: JsonObject, news: JsonObject): Decision {
    assertReadable(id, olds);
    this.entries.manage(id, olds);
    const inputs = checkedInputs(news);
    const { changed, replace, stale } = difference(olds, inputs);
    if (changed.length === 0) this.entries.isUnchanged(id, olds);
    if (replace) this.entries.willBeReplaced(id);
    else if (changed.includes("url") && inputs.url !== UNKNOWN)
      this.entries.willMove(id, {
        from: shownUrl(checkedInputs(olds)),
        send: () => this.sendUpdate(id, olds, news),
      });
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
    const entry = randomNumber();
    this.entries.asks++;
    const live = await operation(`create ${shownUrl(inputs)}`, async () => {
      // A replacement deletes the adopted endpoint first.
      const adopts = inputs.adopt && !this.entries.isDeleted(String(inputs.adopt));
      const adopted = adopts ? await this.findAdoptable(inputs, owner) : undefined;
      if (adopted) return this.takeOver(adopted, inputs, entry, owner);
      const { live, leftover } = await this.createNew(inputs, entry, owner, news[PROVIDER_KEY]);
      if (leftover) return this.takeOver(live, inputs, entry, owner);
      // Refuses the second of two resources with one URL that both lost their answers and found this endpoint.
      this.entries.add(live.id, entry, this.account());
      return live;
    });
    try {
      return { id: live.id, outs: outputsOf(live, inputs, this.notes(entry, live.createdFor)) };
    } catch (error) {
      // The endpoint exists even if its description is unusable.
      throw this.partialCreate(live.id, inputs, entry, news[PROVIDER_KEY], error);
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
    assertReadable(id, stored);
    this.entries.meet(id, stored);
    return operation(`read ${id}`, async () => {
      const { api } = this.serviceFor(stored);
      try {
        const live = (await readFromList(api, id, stored)) ?? (await api.get(id));
        assertCloud(live);
        this.gone.answered(stored);
        return { id, ...refreshed(live, stored) };
      } catch (error) {
        if (!isNotFound(error)) throw error;
        // For a `get`, Pulumi would continue with an endpoint without outputs.
        const isGet = Object.keys(stored).every((key) => key === PROVIDER_KEY);
        if (isGet) throw isOfService(error) ? endpointNotFound(id) : error;
        await this.gone.confirm(this.deps.connect(), error, id, stored);
        return { id: "", props: {} };
      }
    });
  }

  /**
   * Reads an endpoint for an import. All of its fields count as given. An import takes no other input than the id, so it
   * cannot ask for another stack's endpoint by name: it warns of that.
   *
   * @throws UserError if there is no such endpoint, if it is no cloud endpoint, or if another resource of this run has it.
   */
  async import(id: string, news: JsonObject): Promise<{ id: string; props: JsonObject; inputs: JsonObject }> {
    const entry = randomNumber();
    return operation(`import ${id}`, async () => {
      if (this.entries.isManaged(id)) throw alreadyManaged(id);
      const live = (await this.listedForImport(id)) ?? (await this.existing(id));
      const reserved = reservedKeyProblem(live);
      if (reserved !== undefined) throw reservedKey(id, reserved);
      const theirs = foreignOwner(live, this.ownerOf(news));
      if (theirs) this.deps.log.warn(importedFromElsewhere(id, theirs));
      this.entries.add(id, entry, this.account());
      return { id, ...imported(live, this.notes(entry, live.createdFor)) };
    });
  }

  /**
   * Reads an endpoint without a stack. All of its fields count as given, so an update with some of them leaves the others alone,
   * and its mark.
   *
   * @throws UserError if there is no such endpoint, or if it is no cloud endpoint.
   */
  async describe(id: string): Promise<{ id: string; props: JsonObject; inputs: JsonObject }> {
    return operation(`read ${id}`, async () => {
      const live = await this.existing(id);
      return { id, ...imported(live, this.notes(this.entries.tokenOf(id), live.createdFor)) };
    });
  }

  /**
   * The endpoint as the list shows it, so that many imports share one listing. Undefined for the first one, which may be the
   * only one; after a write, which outdates the listing; and if the item lacks an input, which the list may omit.
   */
  private async listedForImport(id: string): Promise<LiveEndpoint | undefined> {
    const { list } = this.deps.connect().api;
    if (this.imports++ === 0) return undefined;
    const item = await list.item(id);
    const isWhole = item?.type === "cloud" && managedInputs.every((name) => item[name] !== undefined);
    return isWhole ? item : undefined;
  }

  private async existing(id: string): Promise<LiveEndpoint> {
    try {
      const live = await this.deps.connect().api.get(id);
      assertCloud(live);
      return live;
    } catch (error) {
      throw isNotFound(error) && isOfService(error) ? endpointNotFound(id) : error;
    }
  }

  /** Sends the fields that differ. Makes no request if none does. */
  async update(id: string, olds: JsonObject, news: JsonObject): Promise<{ outs: JsonObject }> {
    assertReadable(id, olds);
    this.entries.manage(id, olds);
    return { outs: await this.entries.update(id, () => this.sendUpdate(id, olds, news)) };
  }

  private sendUpdate(id: string, olds: JsonObject, news: JsonObject): Promise<JsonObject> {
    const inputs = checkedInputs(news);
    const { changed } = difference(olds, inputs);
    return operation(`update ${id}`, async () => {
      if (changed.length === 0 && isDescribed(olds)) return unchangedOutputs(olds, inputs);
      const { api } = this.serviceFor(olds, news);
      const stored = parseMark(olds[MARK_KEY]);
      const owner = this.ownerOf(news);
      const mark = this.markOf(owner, stored, olds["createdAt"]);
      const change = wireChange(withChosen(inputs, olds), changed, mark);
      const send = () => (changed.length > 0 ? api.update(id, change) : api.get(id));
      const live = await (changed.includes("url")
        ? sendToFreeUrl({ ...this.claim(inputs, owner), mover: id }, send)
        : send()
      ).catch((error: unknown) => {
        throw isNotFound(error) ? updateNotFound(id, error) : refusedChange(error, changed);
      });
      this.gone.answered(olds);
      const notes = this.notes(olds[ENTRY_KEY] ?? randomNumber(), live.createdFor ?? stored);
      return outputsOf(live, inputs, notes, { before: olds, sent: changed });
    });
  }

  /**
   * Deletes the endpoint. Succeeds if it is already gone. If another entry has the endpoint, it stays, and only this entry goes.
   */
  async delete(id: string, stored: JsonObject): Promise<void> {
    assertReadable(id, stored);
    const isManaged = this.entries.isManaged(id);
    this.entries.meet(id, stored);
    const other = this.entries.otherStanding(id, stored);
    await operation(`delete ${id}`, async () => {
      if (other === "failed to take it over") throw takeOverFailed(id);
      const { api, settings } = this.serviceFor(stored);
      if (other !== undefined) {
        this.deps.log.info(`${id} belongs to another resource of this stack, so it was not deleted`);
        return;
      }
      const isMarked = settings.mark !== undefined && !isManaged;
      const newOwner = isMarked ? await this.entries.newOwner(id, stored, api) : undefined;
      if (newOwner) {
        const whose = `${id} carries a newer mark, of ${oneLine(ownerText(newOwner), 300)}`;
        this.deps.log.warn(
          `${whose}, so it was not deleted. If no stack has it, delete it or adopt it: \`npx pulumi-endpoints drift\` lists it.`,
        );
        return;
      }
      try {
        await api.delete(id);
        this.gone.answered(stored);
      } catch (error) {
        const notFound = error instanceof ReplyError ? await notFoundAfter(error, api, id) : error;
        if (!isNotFound(notFound)) throw notFound;
        await this.gone.confirm(this.deps.connect(), notFound, id, stored);
      }
      this.entries.noteDeleted(id);
    });
  }

  private claim(inputs: CloudEndpointInputs, owner: Owner | undefined) {
    return {
      ...this.serviceFor(inputs),
      inputs,
      owner,
      entries: this.entries,
      log: this.deps.log,
    };
  }

  private async createNew(
    inputs: CloudEndpointInputs,
    entry: string,
    owner: Owner | undefined,
    provider: unknown,
  ) {
    try {
      return await createOnce(this.claim(inputs, owner));
    } catch (error) {
      if (!(error instanceof UnreadableReply)) throw error;
      this.entries.add(error.id, entry, this.account());
      throw this.partialCreate(error.id, inputs, entry, provider, error.cause);
    }
  }

  private partialCreate(
    id: string,
    inputs: CloudEndpointInputs,
    entry: string,
    provider: unknown,
    error: unknown,
  ) {
    const cause = error instanceof Error ? error : new Error(String(error));
    const outputs = partialOutputs(inputs, provider, { entry, account: this.account() });
    return new PartialCreateError(id, outputs, cause);
  }

  /**
   * Makes a live endpoint this resource's, and changes what differs from the program.
   *
   * @throws UserError if another resource of this run has it.
   */
  private async takeOver(
    live: LiveEndpoint,
    inputs: CloudEndpointInputs,
    entry: string,
    owner: Owner | undefined,
  ): Promise<LiveEndpoint> {
    this.entries.add(live.id, entry, this.account());
    let sent: ManagedInput[] = [];
    try {
      ({ sent } = changesOnAdoption(live, inputs));
      const mark = this.markOf(owner, undefined, live.createdAt);
      if (sent.length === 0) return live;
      return await this.serviceFor(inputs).api.update(live.id, wireChange(inputs, sent, mark));
    } catch (error) {
      this.entries.takeOverFailed(live.id, entry);
      throw refusedChange(error, sent, { isAdoption: true });
    }
  }

  /** The owner for the mark; undefined if creates are not marked. */
  private ownerOf(news: JsonObject): Owner | undefined {
    const namespace = this.deps.connect().settings.mark;
    const urn = news[URN_KEY];
    return namespace !== undefined && typeof urn === "string" ? { namespace, urn } : undefined;
  }

  /** The mark that a change of metadata sends. Without `endpoints:mark` an existing mark stays. */
  private markOf(owner: Owner | undefined, stored: Mark | undefined, createdAt: unknown): Mark | undefined {
    const time = typeof createdAt === "string" ? createdAt : (stored?.time ?? "unknown");
    return owner ? { nonce: randomNumber(), ...stored, ...owner, time } : stored;
  }

  private warnOnce(message: string): void {
    if (!this.warned.has(message)) this.deps.log.warn(message);
    this.warned.add(message);
  }

  /** The service, for requests about a resource with these properties. */
  private serviceFor(...all: JsonObject[]): Service {
    const { api, settings } = this.deps.connect();
    return { settings, api: api.about({ hasSecrets: () => all.some(hasSecrets) }) };
  }

  private account = (): string => accountFingerprint(this.deps.connect().settings);

  private notes = (entry: unknown, mark: Mark | undefined): ServiceNotes => ({
    entry,
    account: this.account(),
    mark,
  });

  /** @throws UserError if the endpoint has another stack's mark, and `adoptFrom` does not name that stack. */
  private async findAdoptable(inputs: CloudEndpointInputs, owner: Owner | undefined) {
    const live = await findAdoptable(this.serviceFor(inputs).api, inputs);
    const theirs = live && foreignOwner(live, owner);
    if (theirs && stackText(theirs) !== inputs.adoptFrom) throw managedElsewhere(live.id, theirs);
    return live;
  }

  /** Logs the changes of the adoption, because the engine can only show "create". Omits values, which may be secret. */
  private async announceAdoption(inputs: CloudEndpointInputs, owner: Owner | undefined): Promise<void> {
    const live = await this.findAdoptable(inputs, owner);
    if (!live)
      return this.deps.log.info(
        `${shownUrl(inputs)}: there is no cloud endpoint to adopt, so one is created`,
      );
    this.entries.willAdopt(live.id);
    const { places } = changesOnAdoption(live, inputs);
    this.deps.log.info(
      places.length === 0
        ? `${shownUrl(inputs)}: adopts ${live.id} as it is`
        : `${shownUrl(inputs)}: adopts ${live.id}, and changes ${oneLine(firstOf(places))}`,
    );
  }
}

/** @throws UserError if the endpoint is no cloud endpoint. */
function assertCloud({ id, type }: LiveEndpoint): void {
  if (type !== undefined && type !== "cloud") throw wrongType(id, type);
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
async function readFromList(
  api: EndpointsApi,
  id: string,
  stored: JsonObject,
): Promise<LiveEndpoint | undefined> {
  if (!isDescribed(stored)) return undefined;
  const item = await api.list.item(id);
  return item && withoutGaps(item, stored);
}

/** Names the operation in the error if the work fails. */
async function operation<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UserError) || error instanceof PartialCreateError) throw error;
    // Another resource's update has failed, for which this one waited.
    if (error instanceof OperationError || error instanceof UrlCircleError) throw error;
    throw new OperationError(name, error);
  }
}
