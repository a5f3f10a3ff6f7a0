import { isNotFound, ReplyError, UserError } from "../api/apiErrors";
import type { Log } from "../api/client";
import type { LiveEndpoint, Mark, Owner } from "../api/contract";
import type { EndpointsApi } from "../api/endpoints";
import type { JsonObject } from "../api/json";
import { OLDEST_LISTING } from "../api/list";
import { isSameOwner, parseMark, randomNumber } from "../api/mark";
import { isPublicService, type Settings, SettingsError } from "../api/settings";
import { oneLine } from "../api/text";
import { findAdoptable, reservedKeyProblem, takeoverOf } from "./adopt";
import { createOnce } from "./create";
import { firstOf, hasUnknown } from "./documents";
import {
  alreadyManaged,
  alsoManagedElsewhere,
  belongsToAnother,
  carriesMark,
  endpointNotFound,
  keptForOwner,
  managedElsewhere,
  OperationError,
  refusedChange,
  reservedKey,
  takenOver,
  takeOverFailed,
  UnprovenError,
  unprovenToo,
  updateNotFound,
  wrongType,
} from "./errors";
import { type CloudEndpointInputs, type ManagedInput, managedInputs } from "./fields";
import { accountFingerprint, confirmGone } from "./gone";
import { type Checked, checkedInputs, checkInputs, inputWarnings, PROVIDER_KEY, URN_KEY } from "./inputs";
import { everyInput, ifAbsent, look } from "./live";
import { belongsElsewhere, Owners, otherStack } from "./owners";
import { hasSecrets, markedAnswer, shownUrl } from "./secrets";
import {
  difference,
  ENTRY_KEY,
  imported,
  MARK_KEY,
  outputsOf,
  refreshed,
  type ServiceNotes,
  unchangedOutputs,
  wireChange,
  withChosen,
} from "./state";
import { type Claim, sendToFreeUrl } from "./takenUrl";

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

/** The life of a cloud endpoint: each of Pulumi's operations in terms of the service. Answers have their secrets marked. */
export class CloudEndpoints {
  private readonly owners = new Owners();
  /** The warnings so far. The engine checks a resource again before it replaces it. */
  private readonly warned = new Set<string>();
  /** The URLs that a resource has in its old and its new inputs. */
  private readonly keptUrls = new Set<string>();
  /** The endpoint whose message explains what proves too little. */
  private firstUnproven: string | undefined;
  /** When the first deletion of a resource that the program lacks was asked for, by this machine's clock. */
  private deletingSince: number | undefined;

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
      const { settings } = this.deps.connect();
      const inputs = checkedInputs(checked.inputs);
      if (olds["url"] === inputs.url) this.keptUrls.add(inputs.url);
      const facts = { isPublicService: isPublicService(settings.baseUrl) };
      for (const warning of inputWarnings(inputs, olds, facts))
        this.warnOnce(`${shownUrl(inputs)}: ${warning}`);
      const isNew = Object.keys(olds).length === 0;
      if (isNew && inputs.adopt && !hasUnknown([inputs.adopt, inputs.url]))
        await operation(`adopt ${shownUrl(inputs)}`, () => this.announceAdoption(inputs, this.ownerOf(news)));
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
    this.owners.manage(id, olds);
    const { changed, replace, stale } = difference(olds, checkedInputs(news));
    if (changed.length === 0) this.owners.noteUnchanged(id);
    // Outputs from a plugin's state lack the provider string, without which Pulumi can neither read nor delete the resource.
    const lacksCode = news[PROVIDER_KEY] !== undefined && olds[PROVIDER_KEY] === undefined;
    return {
      changes: changed.length > 0 || stale || lacksCode,
      replaces: replace ? ["url"] : [],
      deleteBeforeReplace: true,
    };
  }

  async create(news: JsonObject): Promise<{ id: string; outs: JsonObject }> {
    const inputs = checkedInputs(news);
    const owner = this.ownerOf(news);
    const entry = randomNumber();
    return operation(`create ${shownUrl(inputs)}`, async () => {
      const adopted = await this.findAdoptable(inputs, owner);
      const claim = { ...this.claim(inputs, owner), replacesItself: this.keptUrls.has(inputs.url) };
      const found = adopted ? { live: adopted, isNew: false } : await createOnce(claim);
      // Refuses the second of two resources that both lost their answers and found one endpoint.
      this.owners.add(found.live.id, entry, this.account());
      const { live, mark } = found.isNew ? found : await this.takeOver(found.live, claim, entry);
      const notes = this.notes(entry, live.createdFor ?? mark);
      return {
        id: live.id,
        outs: markedAnswer(outputsOf(live, inputs, notes, { sent: managedInputs }), news),
      };
    });
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
    this.owners.meet(id, stored);
    return operation(`read ${id}`, async () => {
      const { api } = this.serviceFor(stored);
      // A program's `get` has no state. Pulumi would continue with an endpoint without outputs, so a list must not omit one.
      const isGet = Object.keys(stored).every((key) => key === PROVIDER_KEY);
      if (isGet) {
        const live = await api.get(id).catch(ifAbsent(endpointNotFound(id)));
        assertCloud(live);
        return { id, ...marked(refreshed(live, stored), stored) };
      }
      const live = await this.orGone(look(api, id, stored), id, stored);
      if (!live) return { id: "", props: {} };
      assertCloud(live);
      const theirs = belongsElsewhere(live, stored);
      if (theirs) this.warnOnce(takenOver(id, theirs));
      return { id, ...marked(refreshed(live, stored), stored) };
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
      if (this.owners.isManaged(id)) throw alreadyManaged(id);
      const live = await look(this.deps.connect().api, id, everyInput).catch(ifAbsent(endpointNotFound(id)));
      assertCloud(live);
      const reserved = reservedKeyProblem(live);
      if (reserved !== undefined) throw reservedKey(id, reserved);
      const theirs = otherStack(live, this.ownerOf(news));
      if (theirs) this.deps.log.warn(alsoManagedElsewhere(id, theirs));
      this.owners.add(id, entry, this.account());
      return { id, ...marked(imported(live, this.notes(entry, live.createdFor)), {}) };
    });
  }

  /** Sends the fields that differ. Makes no request if none does. */
  async update(id: string, olds: JsonObject, news: JsonObject): Promise<{ outs: JsonObject }> {
    this.owners.manage(id, olds);
    const inputs = checkedInputs(news);
    const { changed } = difference(olds, inputs);
    if (changed.length === 0) return { outs: markedAnswer(unchangedOutputs(olds, inputs), news) };
    return operation(`update ${id}`, async () => {
      const owner = this.ownerOf(news);
      const noted = parseMark(olds[MARK_KEY]);
      const { api } = this.serviceFor(olds, news);
      // Metadata holds the mark. A request with our mark would take the endpoint back without a word.
      const sendsMark = changed.includes("metadata") && (owner ?? noted) !== undefined;
      // Our own mark can be newer than the state if a run was killed.
      const byOthers = (live: LiveEndpoint): Mark | undefined => {
        const newer = belongsElsewhere(live, olds);
        return isSameOwner(newer, owner) ? undefined : newer;
      };
      const kept = sendsMark ? byOthers(await look(api, id, olds)) : undefined;
      const mark = kept ?? this.markOf(owner, noted, olds["createdAt"]);
      const live = await this.send(id, changed, { ...this.claim(inputs, owner), api, mover: id }, () =>
        api.update(id, wireChange(withChosen(inputs, olds), changed, mark)),
      );
      const theirs = kept ?? (sendsMark ? undefined : byOthers(live));
      if (theirs) this.warnOnce(takenOver(id, theirs));
      const notes = this.notes(
        olds[ENTRY_KEY] ?? randomNumber(),
        theirs ? noted : (live.createdFor ?? noted),
      );
      return { outs: markedAnswer(outputsOf(live, inputs, notes, { before: olds, sent: changed }), news) };
    });
  }

  /**
   * Deletes the endpoint. Succeeds if it is already gone. If another entry has the endpoint, it stays, and only this entry goes.
   */
  async delete(id: string, stored: JsonObject): Promise<void> {
    const other = this.owners.release(id, stored);
    await operation(`delete ${id}`, async () => {
      if (other === "failed to take it over") throw takeOverFailed(id);
      if (other !== undefined) return this.deps.log.info(belongsToAnother(id));
      const { api, settings } = this.serviceFor(stored);
      const isMarked = settings.mark !== undefined || stored[MARK_KEY] !== undefined;
      const live = isMarked ? await this.beforeDeletion(api, id, stored) : undefined;
      const theirs = live && belongsElsewhere(live, stored);
      if (theirs) return this.deps.log.warn(keptForOwner(id, theirs));
      await this.owners.during(id, this.remove(api, id, stored));
      this.owners.noteGone(id);
    });
  }

  private async remove(api: EndpointsApi, id: string, stored: JsonObject): Promise<void> {
    try {
      await api.delete(id);
    } catch (error) {
      // A reply that is no 204 proves nothing, but a read by id does.
      const notFound = error instanceof ReplyError ? await errorOf(api.get(id)) : error;
      if (!isNotFound(notFound)) throw notFound ?? error;
      if (await this.orGone(Promise.reject(notFound), id, stored)) throw error;
    }
  }

  /** Sends a PATCH, again if it moves the endpoint and another endpoint of this run leaves the URL. */
  private async send(
    id: string,
    changed: readonly ManagedInput[],
    claim: Claim,
    patch: () => Promise<LiveEndpoint>,
  ): Promise<LiveEndpoint> {
    const send = () => this.owners.during(id, patch());
    const isMove = changed.includes("url");
    try {
      const live = await (isMove ? sendToFreeUrl(claim, send) : send());
      if (isMove) this.owners.noteMoved(id);
      return live;
    } catch (error) {
      throw isNotFound(error) ? updateNotFound(id, error) : refusedChange(error, changed);
    }
  }

  /** The live endpoint, or undefined if a 404 means that it is gone. */
  private async orGone(
    reading: Promise<LiveEndpoint>,
    id: string,
    stored: JsonObject,
  ): Promise<LiveEndpoint | undefined> {
    const error = await errorOf(reading);
    if (error === undefined) return reading;
    if (!isNotFound(error)) throw error;
    const { accounts } = this.owners;
    const absence = { id, stored, notFound: error, accounts };
    const live = await confirmGone(this.deps.connect(), absence).catch((why: unknown) => {
      if (!(why instanceof UnprovenError)) throw why;
      this.firstUnproven ??= id;
      throw this.firstUnproven === id ? why : unprovenToo(id, this.firstUnproven);
    });
    if (!live) this.owners.noteGone(id);
    return live;
  }

  /**
   * The endpoint with its mark. The deletions of resources that the program lacks come last, so they share a listing that began
   * with the first of them, or a few minutes ago. A list may omit metadata, so an item without a mark proves nothing.
   */
  private async beforeDeletion(api: EndpointsApi, id: string, stored: JsonObject) {
    const isInProgram = this.owners.isManaged(id) || this.keptUrls.has(String(stored["url"]));
    if (isInProgram) return api.find(id);
    const now = api.http.clock.now();
    this.deletingSince ??= now;
    const item = await api.list.item(id, Math.max(this.deletingSince, now - OLDEST_LISTING));
    return item?.createdFor ? item : api.find(id);
  }

  private claim(inputs: CloudEndpointInputs, owner: Owner | undefined): Claim {
    const { owners } = this;
    return { ...this.serviceFor(inputs), inputs, owner, owners, log: this.deps.log };
  }

  /**
   * Makes a live endpoint this resource's, and changes what differs from the program.
   *
   * @param entry The token of the resource's entry, which has the endpoint already.
   */
  private async takeOver(live: LiveEndpoint, { api, inputs, owner }: Claim, entry: string) {
    let sent: ManagedInput[] = [];
    try {
      ({ sent } = takeoverOf(live, inputs));
      if (sent.length === 0) return { live, mark: undefined };
      const mark = this.markOf(owner, undefined, live.createdAt);
      return { live: await api.update(live.id, wireChange(inputs, sent, mark)), mark };
    } catch (error) {
      this.owners.fail(live.id, entry);
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

  /**
   * What `adopt` names. An endpoint that this process found gone, or deleted for a replacement, is created anew.
   *
   * @throws UserError if `adopt: true` finds an endpoint with another stack's mark. Its id is the consent.
   */
  private async findAdoptable(inputs: CloudEndpointInputs, owner: Owner | undefined) {
    if (!inputs.adopt || this.owners.isGone(String(inputs.adopt))) return undefined;
    const live = await findAdoptable(this.serviceFor(inputs).api, inputs);
    const theirs = live && otherStack(live, owner);
    if (theirs && inputs.adopt === true) throw managedElsewhere(live.id, theirs);
    return live;
  }

  /** Logs the changes of the adoption, because the engine can only show "create". Omits values, which may be secret. */
  private async announceAdoption(inputs: CloudEndpointInputs, owner: Owner | undefined): Promise<void> {
    const live = await this.findAdoptable(inputs, owner);
    const url = shownUrl(inputs);
    if (!live) return this.deps.log.info(`${url}: there is no cloud endpoint to adopt, so one is created`);
    this.owners.willAdopt(live.id);
    const { places } = takeoverOf(live, inputs);
    const changes = places.length === 0 ? "as it is" : `and changes ${oneLine(firstOf(places))}`;
    const theirs = otherStack(live, owner);
    this.deps.log.info(`${url}: adopts ${live.id}${theirs ? `, ${carriesMark(theirs)},` : ""} ${changes}`);
  }
}

/** What a read found, with its secrets marked. */
const marked = (found: { props: JsonObject; inputs: JsonObject }, stored: JsonObject) => ({
  props: markedAnswer(found.props, stored),
  inputs: markedAnswer(found.inputs, stored),
});

/** @throws UserError if the endpoint is no cloud endpoint. */
function assertCloud({ id, type }: LiveEndpoint): void {
  if (type !== undefined && type !== "cloud") throw wrongType(id, type);
}

/** The error of a promise; undefined if it is fulfilled. */
const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** Names the operation in the error if the work fails. */
async function operation<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof UserError ? new OperationError(name, error) : error;
  }
}
