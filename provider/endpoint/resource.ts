import { isNotFound, ReplyError, UserError } from "../api/apiErrors";
import type { Log } from "../api/client";
import type { LiveEndpoint, Owner } from "../api/contract";
import type { EndpointsApi } from "../api/endpoints";
import type { JsonObject } from "../api/json";
import { parseMark, randomNumber } from "../api/mark";
import { announceAdoption, findAdoptable, reservedKeyProblem, takeOver } from "./adopt";
import { createOnce } from "./create";
import { hasUnknown } from "./documents";
import {
  alsoManagedElsewhere,
  belongsToAnother,
  endpointNotFound,
  keptForOwner,
  OperationError,
  reservedKey,
  takenOver,
  takeOverFailed,
  updateNotFound,
  wrongType,
} from "./errors";
import { managedInputs } from "./fields";
import { accountFingerprint, confirmGone } from "./gone";
import { type Checked, checkedInputs, checkInputs, PROVIDER_KEY, URN_KEY } from "./inputs";
import { everyInput, ifAbsent, look } from "./live";
import { belongsElsewhere, type Claim, markOf, Owners, otherStack } from "./owners";
import { answerForEngine, hasSecrets, shownUrl } from "./secrets";
import {
  difference,
  ENTRY_KEY,
  type Entry,
  importedFromLive,
  inputsWithChoices,
  MARK_KEY,
  notesOfEntry,
  refreshedFromLive,
  type State,
  stateFromReply,
  stateWithNewNotes,
  wireFromInputs,
} from "./state";
import { sendToFreeUrl } from "./takenUrl";

interface Dependencies {
  /** The configured service. Throws ConfigError if a setting is missing or invalid. */
  connect(): EndpointsApi;
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

  constructor(private readonly deps: Dependencies) {}

  /**
   * Finds all mistakes. Before a first create with `adopt`, it logs the
   * changes of the adoption.
   */
  async check(olds: JsonObject, news: JsonObject): Promise<Checked> {
    const checked = checkInputs(news, olds);
    if (checked.failures.length > 0) return checked;

    try {
      // Finds a missing key or base URL at the preview, before anything is done.
      this.deps.connect();
      const inputs = checkedInputs(checked.inputs);
      const isNew = Object.keys(olds).length === 0;
      if (isNew && inputs.adopt && !hasUnknown([inputs.adopt, inputs.url]))
        await operation(`adopt ${shownUrl(inputs)}`, () => announceAdoption(this.claim(checked.inputs)));
      return checked;
    } catch (error) {
      // A failure of the check is printed once. The engine and the provider's process would both print an error.
      if (!(error instanceof UserError)) throw error;
      return { ...checked, failures: error.message.split("\n").map((reason) => ({ input: "", reason })) };
    }
  }

  /** Compares the program's inputs with the state. Makes no request. */
  diff(id: string, olds: State, news: JsonObject): Decision {
    this.owners.manage(id, olds);
    const { changed, replace, stale } = difference(olds, checkedInputs(news));
    if (changed.length === 0) this.owners.fates.set(id, "stays");
    // Outputs from a plugin's state lack the provider string, without which Pulumi can neither read nor delete the resource.
    const lacksCode = news[PROVIDER_KEY] !== undefined && olds[PROVIDER_KEY] === undefined;
    return {
      changes: changed.length > 0 || stale || lacksCode,
      replaces: replace ? ["url"] : [],
      deleteBeforeReplace: true,
    };
  }

  async create(news: JsonObject): Promise<{ id: string; outs: State }> {
    const inputs = checkedInputs(news);
    return operation(`create ${shownUrl(inputs)}`, async () => {
      const claim = this.claim(news);
      const adoptable = await findAdoptable(claim);
      const live = adoptable ? await takeOver(adoptable, claim) : await createOnce(claim);
      const notes = notesOfEntry(claim.entry, live.createdFor);
      const outs = stateFromReply(live, inputs, notes, { sent: managedInputs });
      return { id: live.id, outs: answerForEngine(outs, news) };
    });
  }

  /**
   * Reads the live endpoint.
   *
   * @returns An empty id if the endpoint is gone.
   * @throws UserError if the service does not find it, but nothing proves that it is gone.
   */
  async read(id: string, stored: State): Promise<{ id: string; props: State; inputs?: JsonObject }> {
    this.owners.meet(id, stored);
    return operation(`read ${id}`, async () => {
      const api = this.apiFor(stored);
      // A program's `get` has no state. Pulumi would continue with an endpoint without outputs, so a list must not omit one.
      const isGet = Object.keys(stored).every((key) => key === PROVIDER_KEY);
      const live = isGet
        ? await api.get(id).catch(ifAbsent(endpointNotFound(id)))
        : await this.orGone(look(api, id, stored), id, stored);
      if (!live) return { id: "", props: {} };
      assertCloud(live);
      const theirs = isGet ? undefined : belongsElsewhere(live, stored);
      if (theirs) this.warnOnce(takenOver(id, theirs));
      return { id, ...foundForEngine(refreshedFromLive(live, stored), stored) };
    });
  }

  /**
   * Reads an endpoint for an import. All of its fields count as given. An import takes no other input than the id, so it
   * cannot ask for another stack's endpoint by name: it warns of that.
   *
   * @throws UserError if there is no such endpoint, if it is no cloud endpoint, or if another resource of this run has it.
   */
  async import(id: string, news: JsonObject): Promise<{ id: string; props: State; inputs: JsonObject }> {
    const entry = this.entry();
    return operation(`import ${id}`, async () => {
      const live = await look(this.deps.connect(), id, everyInput).catch(ifAbsent(endpointNotFound(id)));
      assertCloud(live);
      const reserved = reservedKeyProblem(live);
      if (reserved !== undefined) throw reservedKey(id, reserved);
      const theirs = otherStack(live, this.ownerOf(news));
      if (theirs) this.deps.log.warn(alsoManagedElsewhere(id, theirs));
      this.owners.add(id, entry);
      return { id, ...foundForEngine(importedFromLive(live, notesOfEntry(entry, live.createdFor)), {}) };
    });
  }

  /** Sends the fields that differ. Makes no request if none does. */
  async update(id: string, olds: State, news: JsonObject): Promise<{ outs: State }> {
    this.owners.manage(id, olds);
    const inputs = checkedInputs(news);
    const { changed } = difference(olds, inputs);
    if (changed.length === 0) return { outs: answerForEngine(stateWithNewNotes(olds, inputs), news) };
    return operation(`update ${id}`, async () => {
      const api = this.apiFor(olds, news);
      const claim = { ...this.claim(news, olds[ENTRY_KEY]), api, mover: id };
      const stored = parseMark(olds[MARK_KEY]);
      // Metadata holds the mark. A request with our mark would take the endpoint back without a word.
      const sendsMark = changed.includes("metadata") && (claim.owner ?? stored) !== undefined;
      const taker = sendsMark ? belongsElsewhere(await look(api, id, olds), olds) : undefined;
      // Without `endpoints:mark`, an existing mark stays.
      const own = () => (claim.owner ? markOf(claim, olds.createdAt ?? stored?.time) : stored);
      const mark = sendsMark ? (taker ?? own()) : undefined;
      const body = wireFromInputs(inputsWithChoices(inputs, olds), changed, mark);
      const isMove = changed.includes("url");
      const patch = () => this.owners.during(id, api.update(id, body), isMove ? "moved" : "stays");
      const live = await (isMove ? sendToFreeUrl(claim, patch) : patch()).catch((error: unknown) => {
        throw isNotFound(error) ? updateNotFound(id, error) : error;
      });
      const theirs = taker ?? belongsElsewhere(live, olds);
      if (theirs) this.warnOnce(takenOver(id, theirs));
      const notes = notesOfEntry(claim.entry, theirs ? stored : (live.createdFor ?? stored));
      const outs = stateFromReply(live, inputs, notes, { before: olds, sent: changed });
      return { outs: answerForEngine(outs, news) };
    });
  }

  /**
   * Deletes the endpoint. Succeeds if it is already gone. If another entry has the endpoint, it stays, and only this entry goes.
   */
  async delete(id: string, stored: State): Promise<void> {
    const other = this.owners.release(id, stored);
    await operation(`delete ${id}`, async () => {
      if (other === "not taken over") throw takeOverFailed(id);
      if (other !== undefined) return this.deps.log.info(belongsToAnother(id));
      const api = this.apiFor(stored);
      const mayBeTaken = api.http.settings.mark !== undefined || stored[MARK_KEY] !== undefined;
      // Not from the list: another stack may have taken it over since.
      const live = mayBeTaken ? await api.find(id) : undefined;
      const theirs = live && belongsElsewhere(live, stored);
      if (theirs) return this.deps.log.warn(keptForOwner(id, theirs));
      await this.owners.during(id, this.remove(api, id, stored), "gone");
    });
  }

  private async remove(api: EndpointsApi, id: string, stored: State): Promise<void> {
    try {
      await api.delete(id);
    } catch (error) {
      // A reply that is no 204 proves nothing, but a read by id does.
      const reading = error instanceof ReplyError ? api.get(id) : Promise.reject(error);
      if (await this.orGone(reading, id, stored)) throw error;
    }
  }

  /** The live endpoint, or undefined if a 404 means that it is gone. */
  private async orGone(
    reading: Promise<LiveEndpoint>,
    id: string,
    stored: State,
  ): Promise<LiveEndpoint | undefined> {
    const { accounts, fates } = this.owners;
    return reading.catch(async (notFound: unknown) => {
      if (!isNotFound(notFound)) throw notFound;
      const live = await confirmGone(this.deps.connect(), { id, stored, notFound, accounts });
      if (!live) fates.set(id, "gone");
      return live;
    });
  }

  private claim(news: JsonObject, token?: unknown): Claim {
    const { owners, deps } = this;
    const inputs = checkedInputs(news);
    return {
      api: this.apiFor(inputs),
      inputs,
      shownUrl: shownUrl(inputs),
      entry: this.entry(token),
      owner: this.ownerOf(news),
      owners,
      log: deps.log,
    };
  }

  private entry = (token: unknown = randomNumber()): Entry => ({
    token,
    account: accountFingerprint(this.deps.connect().http.settings),
  });

  /** The owner for the mark; undefined if creates are not marked. */
  private ownerOf(news: JsonObject): Owner | undefined {
    const namespace = this.deps.connect().http.settings.mark;
    const urn = news[URN_KEY];
    return namespace !== undefined && typeof urn === "string" ? { namespace, urn } : undefined;
  }

  private warnOnce(message: string): void {
    if (!this.warned.has(message)) this.deps.log.warn(message);
    this.warned.add(message);
  }

  /** The calls about a resource with these properties. */
  private apiFor(...all: JsonObject[]): EndpointsApi {
    return this.deps.connect().about({ hasSecrets: () => all.some(hasSecrets) });
  }
}

/** What a read found, with its secrets marked. */
const foundForEngine = (found: { props: JsonObject; inputs: JsonObject }, stored: JsonObject) => ({
  props: answerForEngine(found.props, stored),
  inputs: answerForEngine(found.inputs, stored),
});

/** @throws UserError if the endpoint is no cloud endpoint. */
function assertCloud({ id, type }: LiveEndpoint): void {
  if (type !== undefined && type !== "cloud") throw wrongType(id, type);
}

/** Names the operation in the error if the work fails. */
async function operation<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof UserError ? new OperationError(name, error) : error;
  }
}
