import type { JsonObject } from "../../sdk/traffic-policy/data/index";
import { hasUnknown } from "../pulumi/sentinels";
import { isNotFound, ReplyError, UserError } from "../service/apiErrors";
import type { Log } from "../service/client";
import type { TimeBudget } from "../service/clock";
import type { Endpoint } from "../service/contract";
import type { EndpointsApi } from "../service/endpoints";
import type { Settings } from "../service/settings";
import { AccountMessages, accountFingerprint, FINGERPRINT_KEY } from "./account";
import { adopt, logPlannedAdoption, type WriteContext } from "./adopt";
import { RunConsent } from "./consent";
import { createOnce, sendUntilCertain } from "./create";
import {
  adoptionFailed,
  belongsToAnother,
  endpointNotFound,
  keptByConsent,
  OperationError,
  OtherAccountError,
  PartialWriteError,
  replacedStays,
  updateNotFound,
  wrongType,
} from "./errors";
import { documentsAsData, managedInputs, type PreviewInputs } from "./fields";
import { confirmGone } from "./gone";
import {
  type Checked,
  checkInputs,
  type EngineInputs,
  engineInputs,
  knownInputs,
  PROVIDER_KEY,
} from "./inputs";
import { ifService404, readEndpoint, readUnknownEndpoint } from "./readEndpoint";
import { RunRecord } from "./runRecord";
import { withoutAccountKey } from "./secretSearch";
import {
  answerForEngine,
  displayUrl,
  hasSecrets,
  notedSecrets,
  withAccountKeyNoted,
  withSecretsNote,
} from "./secrets";
import {
  difference,
  ENTRY_ID_KEY,
  entryIdentity,
  entryNotes,
  importedFromLive,
  ONLY_READ_KEY,
  pick,
  refreshedFromLive,
  type State,
  stateFromLive,
  stateWithNewNotes,
  wireFromInputs,
  withServiceDefaults,
} from "./state";
import { type AcceptedWrite, asUnreadableReply, UnshownFields, verifyWrite } from "./verify";

interface Dependencies {
  /** The configured service. Throws ConfigError if a setting is missing or invalid. */
  connect(): EndpointsApi;
  log: Log;
}

export interface DiffResult {
  changes: boolean;
  replaces: string[];
  /** Always true: a URL belongs to one endpoint at a time. */
  deleteBeforeReplace: boolean;
}

/** The life of a cloud endpoint: each of Pulumi's operations in terms of the service. Answers have their secrets marked. */
export class CloudEndpoints {
  private readonly runRecord = new RunRecord();
  private readonly unshown = new UnshownFields();

  /** A message may quote a reply, and a reply may contain the account's key. */
  private readonly log: Log = {
    info: (message) => this.deps.log.info(withoutAccountKey(message, this.key())),
    warn: (message) => this.deps.log.warn(withoutAccountKey(message, this.key())),
  };

  private readonly consent = new RunConsent(this.log, () => this.settings()?.consent);
  private readonly accountMessages = new AccountMessages(this.log);

  constructor(private readonly deps: Dependencies) {}

  /**
   * Finds all mistakes. Before a create that takes over an endpoint, by `adopt` or by `ENDPOINTS_ADOPT`, it logs the changes.
   *
   * @param stack Project and stack, `shop/prod`. Undefined if the program has another copy of this package, which does not name it.
   */
  async check(olds: JsonObject, news: JsonObject, stack?: unknown): Promise<Checked> {
    const { inputs: given, failures } = checkInputs(news, olds);
    const checked = { inputs: withAccountKeyNoted(given, this.key()), failures };
    if (failures.length > 0) return checked;

    try {
      if (typeof stack === "string") this.consent.stack = stack;
      // Finds a missing key or base URL at the preview, before anything is done.
      this.deps.connect();
      this.consent.assertForThisStack();
      const inputs = engineInputs(checked.inputs);
      const isNew = Object.keys(olds).length === 0;
      if (isNew && !hasUnknown([inputs.adopt, inputs.url]))
        await this.operation(`adopt ${displayUrl(inputs)}`, () =>
          logPlannedAdoption(this.writeContext(inputs)),
        );
      return checked;
    } catch (error) {
      // A failure of the check is printed once. The engine and the provider's process would both print an error.
      if (!(error instanceof UserError)) throw error;
      return { ...checked, failures: error.message.split("\n").map((reason) => ({ input: "", reason })) };
    }
  }

  /**
   * Compares the program's inputs with the state, and notes the resource and whether it changes. Makes no request, unless nothing
   * changed and the state was written with another account: then it looks for the first such endpoint of this process.
   *
   * @throws UserError if another resource of the program has the endpoint, or will adopt it.
   */
  async diff(id: string, olds: State, inputs: EngineInputs): Promise<DiffResult> {
    const { changed, replace, hasStaleNotes } = difference(olds, inputs);
    const isOfProgram = this.runRecord.recordCompared(id, olds, inputs);
    this.consent.warnIfInState(id);
    if (changed.length === 0 && isOfProgram) this.runRecord.recordUnchanged(id);
    if (replace) this.runRecord.recordReplaced(id, inputs.url);
    if (changed.length === 0 && this.settings())
      await this.accountMessages.warnIfMissing(this.deps.connect(), id, olds);
    // Outputs from a plugin's state lack the provider string, without which Pulumi can neither read nor delete the resource.
    const lacksProviderString = inputs[PROVIDER_KEY] !== undefined && olds[PROVIDER_KEY] === undefined;
    return {
      changes: changed.length > 0 || hasStaleNotes || lacksProviderString,
      replaces: replace ? ["url"] : [],
      deleteBeforeReplace: true,
    };
  }

  async create(news: EngineInputs): Promise<{ id: string; outs: State }> {
    const inputs = knownInputs(news);
    return this.operation(`create ${displayUrl(inputs)}`, async () => {
      const context = this.writeContext(inputs);
      this.consent.assertForThisStack();
      const adoption = await adopt(context);
      const write = adoption ?? (await createOnce(context));
      for (const old of this.runRecord.replacedOnUrl(inputs.url))
        if (old !== write.id) this.log.warn(replacedStays(old, context.displayUrl));
      const state = () => this.stateAfter(write, context, news);
      const outs = await (adoption ? this.runRecord.trackAdoption(write.id, context.entry, state) : state());
      return { id: write.id, outs };
    });
  }

  /**
   * Reads the live endpoint.
   *
   * @returns An empty id if the endpoint is gone.
   * @throws UserError if the service does not find it, but nothing proves that it is gone.
   */
  async read(id: string, stored: State): Promise<{ id: string; props: State; inputs?: JsonObject }> {
    // `CloudEndpoint.get` passes no state. Its result has a note, by which later reads recognize it.
    const isGet = Object.keys(stored).every((key) => key === PROVIDER_KEY);
    const isOnlyRead = isGet || stored[ONLY_READ_KEY] === true;
    if (!isOnlyRead) {
      this.runRecord.recordRefreshed(id, stored);
      this.consent.warnIfInState(id);
    }
    return this.operation(`read ${id}`, async () => {
      const api = this.apiFor(stored);
      // A list may omit outputs, and Pulumi would continue without them. So `get` reads by id.
      const live = isGet
        ? await api.get(id).catch(ifService404(endpointNotFound(id)))
        : await this.undefinedIfGone(readEndpoint(api, id, stored), id, stored, { isOnlyRead });
      if (!live) return { id: "", props: {} };
      assertCloud(live);
      const { props, inputs } = refreshedFromLive(live, stored);
      // The service has shown the endpoint to this key, so a rotated key becomes the one of the state.
      if (FINGERPRINT_KEY in stored) props[FINGERPRINT_KEY] = accountFingerprint(api.http.settings);
      if (isGet) props[ONLY_READ_KEY] = true;
      return { id, ...this.foundForEngine({ props, inputs }, stored) };
    });
  }

  /**
   * Reads an endpoint for an import. All of its fields count as given.
   *
   * @throws UserError if there is no such endpoint, if it is no cloud endpoint, or if another resource of this run has it.
   */
  async import(id: string): Promise<{ id: string; props: State; inputs: JsonObject }> {
    return this.operation(`import ${id}`, () => {
      const api = this.deps.connect();
      const entry = entryIdentity(api.http.settings);
      return this.runRecord.trackAdoption(id, entry, async () => {
        const live = await readUnknownEndpoint(api, id, managedInputs).catch(
          ifService404(endpointNotFound(id)),
        );
        assertCloud(live);
        this.runRecord.recordNewEntry(id, entry);
        return { id, ...this.foundForEngine(importedFromLive(live, entryNotes(entry)), {}) };
      });
    });
  }

  /** Sends the fields that differ. Makes no request if none does. */
  async update(id: string, olds: State, news: EngineInputs): Promise<{ outs: State }> {
    this.runRecord.recordManaged(id, olds);
    const inputs = knownInputs(news);
    const { changed } = difference(olds, inputs);
    if (changed.length === 0) return { outs: this.marked(stateWithNewNotes(olds, inputs), news) };
    return this.operation(`update ${id}`, async () => {
      const context = this.writeContext(inputs, olds, id);
      const wanted = withServiceDefaults(inputs, olds);
      const body = wireFromInputs(wanted, changed);
      const toOtherUrl = changed.includes("url");
      const patch = (budget?: TimeBudget) =>
        this.runRecord.trackUpdate(id, context.api.update(id, body, budget), { toOtherUrl });
      const reply = await (toOtherUrl ? sendUntilCertain(context, patch) : patch())
        .catch((error: unknown) => {
          throw isNotFound(error) ? updateNotFound(id, error) : error;
        })
        .catch(asUnreadableReply);
      const write = { id, reply, sent: changed, wanted, before: documentsAsData(olds) };
      return { outs: await this.stateAfter(write, context, news, olds) };
    });
  }

  /**
   * The state after a write, with its secrets marked.
   *
   * @throws PartialWriteError if the service did not make the write, or only in part.
   */
  private async stateAfter(
    write: AcceptedWrite,
    context: WriteContext,
    news: EngineInputs,
    before?: State,
  ): Promise<State> {
    const { id, sent } = write;
    const { live, ignored, failure } = await verifyWrite(write, { ...context, unshown: this.unshown });
    if (ignored.includes("url")) this.runRecord.recordUnchanged(id);
    const state = stateFromLive(live, context.inputs, entryNotes(context.entry), { before, sent });
    // A failed write may have left the old value, with its secret.
    const outs = this.marked(
      state,
      withSecretsNote(news, [...notedSecrets(news), ...notedSecrets(failure ? (before ?? {}) : {})]),
    );
    // Pulumi adds the provider's code only to successes, and could neither read nor delete the resource without it.
    if (failure) throw new PartialWriteError(failure, id, { ...outs, ...pick(news, [PROVIDER_KEY]) });
    return outs;
  }

  /**
   * Deletes the endpoint. Succeeds if it is already gone. If another entry has the endpoint, or if this run may take it over
   * (`ENDPOINTS_ADOPT`), it stays, and only this entry goes.
   *
   * @throws UserError if another resource asked for the endpoint in this run, and could not take it over.
   */
  async delete(id: string, stored: State): Promise<void> {
    const reasonToKeep = this.runRecord.recordDeletion(id, stored);
    await this.operation(`delete ${id}`, async () => {
      if (reasonToKeep === "not adopted") throw adoptionFailed(id);
      if (reasonToKeep !== undefined) return this.log.info(belongsToAnother(id));
      // The process of another provider may have taken the endpoint over.
      const { ids } = this.consent;
      if (ids.includes(id)) return this.log.warn(keptByConsent(ids));
      await this.runRecord.trackDelete(id, this.deleteEndpoint(this.apiFor(stored), id, stored));
    });
  }

  private async deleteEndpoint(api: EndpointsApi, id: string, stored: State): Promise<void> {
    try {
      await api.delete(id);
    } catch (error) {
      // A 404 of a deletion, or a reply that is no 204, proves nothing.
      if (!isNotFound(error) && !(error instanceof ReplyError)) throw error;
      if (await this.undefinedIfGone(api.get(id), id, stored, { isOnlyRead: false })) throw error;
    }
  }

  /** The live endpoint, or undefined if a 404 means that it is gone. */
  private async undefinedIfGone(
    reading: Promise<Endpoint>,
    id: string,
    stored: State,
    { isOnlyRead }: { isOnlyRead: boolean },
  ): Promise<Endpoint | undefined> {
    const { isOfAccount } = this.runRecord;
    return reading.catch(async (notFound: unknown) => {
      if (!isNotFound(notFound)) throw notFound;
      const absence = { id, stored, notFound, isOnlyRead, isOfAccount };
      const live = await confirmGone(this.deps.connect(), absence).catch((error: unknown) => {
        throw error instanceof OtherAccountError ? this.accountMessages.inFullOnlyOnce(error) : error;
      });
      if (!live) this.runRecord.recordGone(id);
      return live;
    });
  }

  private writeContext<T extends PreviewInputs>(
    inputs: T,
    before: State = {},
    updatedId?: string,
  ): WriteContext<T> {
    const { runRecord, log, consent } = this;
    const api = this.apiFor(inputs, before);
    return {
      api,
      inputs,
      displayUrl: displayUrl(inputs),
      stack: consent.stack,
      entry: entryIdentity(api.http.settings, before[ENTRY_ID_KEY]),
      runRecord,
      consented: () => consent.readEndpoints(api),
      log,
      ...(updatedId !== undefined && { updatedId }),
    };
  }

  /** Undefined in a preview in which the plugin's configuration is not known yet. */
  private settings(): Settings | undefined {
    try {
      return this.deps.connect().http.settings;
    } catch (error) {
      if (error instanceof UserError) return undefined;
      throw error;
    }
  }

  /** The calls about a resource with these properties. */
  private apiFor(...all: JsonObject[]): EndpointsApi {
    return this.deps
      .connect()
      .redacting({ hasSecrets: () => all.some((props) => hasSecrets(props, this.key())) });
  }

  /** Names the operation in the error if the work fails. */
  private async operation<T>(name: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof UserError ? new OperationError(name, error, this.key()) : error;
    }
  }

  private key = (): string | undefined => this.settings()?.apiKey;

  /** An answer with its secrets marked. */
  private marked = (answer: JsonObject, asked: JsonObject): JsonObject =>
    answerForEngine(answer, asked, this.key());

  private foundForEngine = (found: { props: JsonObject; inputs: JsonObject }, stored: JsonObject) => ({
    props: this.marked(found.props, stored),
    inputs: this.marked(found.inputs, stored),
  });
}

/** @throws UserError if the endpoint is no cloud endpoint. */
function assertCloud({ id, type }: Endpoint): void {
  if (type !== undefined && type !== "cloud") throw wrongType(id, type);
}
