import type { JsonObject } from "../../sdk/traffic-policy/data/index";
import { hasUnknown } from "../pulumi/sentinels";
import { isNotFound, isService404, ReplyError, UserError } from "../service/apiErrors";
import type { Log } from "../service/client";
import type { Endpoint } from "../service/contract";
import type { EndpointsApi } from "../service/endpoints";
import type { Settings } from "../service/settings";
import { adopt, fittingEndpoint, logPlannedAdoption } from "./adopt";
import { createOnce, sendUntilCertain } from "./create";
import {
  adoptSettingIsLeft,
  adoptsReplaced,
  belongsToAnother,
  endpointNotFound,
  notDeleted,
  notOfThisAccount,
  OperationError,
  policyRemoved,
  updateNotFound,
  wrongType,
} from "./errors";
import type { PreviewInputs } from "./fields";
import { confirmGone } from "./gone";
import {
  type Checked,
  checkInputs,
  type EngineInputs,
  engineInputs,
  knownInputs,
  PROVIDER_KEY,
} from "./inputs";
import { Owners } from "./owners";
import { ifService404, readEndpoint } from "./readEndpoint";
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
  accountFingerprint,
  difference,
  ENTRY_ID_KEY,
  entryNotes,
  FINGERPRINT_KEY,
  importedFromLive,
  refreshedFromLive,
  type State,
  stateFromLive,
  stateWithNewNotes,
  VERSION_KEY,
  wireFromInputs,
  withServiceDefaults,
} from "./state";
import { asUnreadableReply, verifyWrite } from "./verify";
import type { AcceptedWrite, WriteContext } from "./write";

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
  private readonly owners = new Owners();
  private hasLookedForAccount = false;

  /** A message may quote a reply, and a reply may contain the account's key. */
  private readonly log: Log = {
    info: (message) => this.deps.log.info(withoutAccountKey(message, this.key())),
    warn: (message) => this.deps.log.warn(withoutAccountKey(message, this.key())),
  };

  constructor(private readonly deps: Dependencies) {}

  /** Finds all mistakes. If the resource adopts an endpoint, it reads it, claims it, and logs the changes. */
  async check(olds: JsonObject, news: JsonObject): Promise<Checked> {
    const { inputs: given, failures } = checkInputs(news);
    const checked = { inputs: withAccountKeyNoted(given, this.key()), failures };
    if (failures.length > 0) return checked;

    try {
      // Finds a missing key or base URL at the preview, before anything is done.
      this.deps.connect();
      const inputs = engineInputs(checked.inputs);
      if (Object.keys(olds).length > 0) this.owners.recordInState(inputs);
      else if (!hasUnknown([inputs.adopt, inputs.url, inputs.poolingEnabled]))
        await this.operation(`adopt ${displayUrl(inputs)}`, () => this.planAdoption(inputs));
      return checked;
    } catch (error) {
      // A failure of the check is printed once. The engine and the provider's process would both print an error.
      if (!(error instanceof UserError)) throw error;
      return { ...checked, failures: error.message.split("\n").map((reason) => ({ input: "", reason })) };
    }
  }

  /** Writes the fitting id of `endpoints:adopt` into inputs without `adopt`. Claims what the resource adopts, and logs the changes. */
  private async planAdoption(inputs: EngineInputs): Promise<void> {
    const context = this.writeContext(inputs);
    const { api } = context;
    const { adopt: ids } = api.http.settings;
    const isListed = inputs.adopt === undefined;
    if (isListed && ids.length > 0) {
      const reading = ids.map((id) => readEndpoint(api, id, {}).catch(undefinedIfNotFound));
      const named = await Promise.all(reading).catch((error: unknown) => {
        for (const id of ids) this.owners.keepFromDeletion(id);
        throw error;
      });
      const id = fittingEndpoint(
        named.flatMap((live) => live ?? []),
        context,
      );
      // The hosts of both providers fail on a key without a value.
      if (id !== undefined) inputs.adopt = id;
    }
    if (inputs.adopt !== undefined) await logPlannedAdoption(inputs.adopt, context, { isListed });
  }

  /**
   * Compares the program's inputs with the state. Makes no request, unless nothing changed and the state was written with another
   * account: then it looks for the first such endpoint of this process.
   *
   * @throws UserError if another resource of the program has the endpoint or will adopt it, if the program removes the policy that it
   *   gave, or if it adopts the endpoint that it replaces.
   */
  async diff(id: string, olds: State, inputs: EngineInputs): Promise<DiffResult> {
    const { changed, setOrUnset, replace, hasStaleNotes } = difference(olds, inputs);
    if (setOrUnset.includes("trafficPolicy") && inputs.trafficPolicy === undefined) throw policyRemoved();
    if (replace && inputs.adopt === id) throw adoptsReplaced(id);
    this.owners.recordWanted(id, olds, inputs);
    const settings = this.settings();
    if (settings?.adopt.includes(id)) this.log.warn(adoptSettingIsLeft);
    if (changed.length === 0 && settings) await this.warnIfOfOtherAccount(settings, id, olds);
    // Outputs from a plugin's state lack the provider string, without which Pulumi can neither read nor delete the resource.
    const lacksProviderString = inputs[PROVIDER_KEY] !== undefined && olds[PROVIDER_KEY] === undefined;
    return {
      changes: changed.length > 0 || hasStaleNotes || lacksProviderString,
      replaces: replace ? ["url"] : [],
      deleteBeforeReplace: true,
    };
  }

  /** Makes one request in a process, and only with another fingerprint. */
  private async warnIfOfOtherAccount(settings: Settings, id: string, stored: State): Promise<void> {
    const account = stored[FINGERPRINT_KEY];
    if (this.hasLookedForAccount || account === undefined || account === accountFingerprint(settings)) return;
    this.hasLookedForAccount = true;
    // One attempt: a preview must not wait for a service that it does not need.
    const reading = this.deps.connect().get(id, { isSentOnce: true });
    if (await reading.then(() => false, isService404)) this.log.warn(notOfThisAccount(id, settings));
  }

  async create(news: EngineInputs): Promise<{ id: string; outs: State }> {
    const inputs = knownInputs(news);
    return this.operation(`create ${displayUrl(inputs)}`, async () => {
      const context = this.writeContext(inputs);
      const write =
        inputs.adopt === undefined ? await createOnce(context) : await adopt(inputs.adopt, context);
      const outs = await this.stateAfter(write, context, news);
      this.owners.recordNewEntry(write.id, outs[ENTRY_ID_KEY], inputs);
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
    // What a program only reads (`CloudEndpoint.get`) is no entry, and has no notes.
    const isManaged = VERSION_KEY in stored;
    if (isManaged) this.owners.recordEntry(id, stored);
    return this.operation(`read ${id}`, async () => {
      const api = this.apiFor(stored);
      // A list may omit outputs, and Pulumi would continue without them. So `get` reads by id.
      const live = isManaged
        ? await this.undefinedIfGone(readEndpoint(api, id, stored), id, stored)
        : await api.get(id).catch(ifService404(endpointNotFound(id)));
      if (!live) return { id: "", props: {} };
      assertCloud(live);
      const { props, inputs } = refreshedFromLive(live, stored);
      // The service has shown the endpoint to this key, so a rotated key becomes the one of the state.
      if (FINGERPRINT_KEY in stored) props[FINGERPRINT_KEY] = accountFingerprint(api.http.settings);
      return { id, ...this.foundForEngine({ props, inputs }, stored) };
    });
  }

  /**
   * Reads an endpoint for an import. All of its fields count as given.
   *
   * @throws UserError if there is no such endpoint, if it is no cloud endpoint, or if another resource of this run has it.
   */
  async import(id: string): Promise<{ id: string; props: State; inputs: JsonObject }> {
    return this.operation(`import ${id}`, async () => {
      const api = this.deps.connect();
      this.owners.claim(id);
      const live = await readEndpoint(api, id, {}).catch(ifService404(endpointNotFound(id)));
      assertCloud(live);
      const notes = entryNotes(api.http.settings);
      this.owners.recordNewEntry(id, notes[ENTRY_ID_KEY]);
      return { id, ...this.foundForEngine(importedFromLive(live, notes), {}) };
    });
  }

  /** Sends the fields that differ. Makes no request if none does. */
  async update(id: string, olds: State, news: EngineInputs): Promise<{ outs: State }> {
    const inputs = knownInputs(news);
    const { changed } = difference(olds, inputs);
    return this.operation(`update ${id}`, async () => {
      this.owners.assertSole(id, olds);
      if (changed.length === 0) return { outs: this.marked(stateWithNewNotes(olds, inputs), news) };
      const context = { ...this.writeContext(inputs, olds), updatedId: id };
      const wanted = withServiceDefaults(inputs, olds);
      const patch = () => context.api.update(id, wireFromInputs(wanted, changed));
      const reply = await (changed.includes("url") ? sendUntilCertain(context, patch) : patch())
        .catch((error: unknown) => {
          throw isNotFound(error) ? updateNotFound(id, error) : error;
        })
        .catch(asUnreadableReply);
      return { outs: await this.stateAfter({ id, reply, sent: changed, wanted }, context, news, olds) };
    });
  }

  /** The state after a write, with its secrets marked: what the service has, also where it differs from what was sent. */
  private async stateAfter(
    write: AcceptedWrite,
    context: WriteContext,
    news: EngineInputs,
    before?: State,
  ): Promise<State> {
    const { live, differing } = await verifyWrite(write, context);
    const notes = entryNotes(context.api.http.settings, before?.[ENTRY_ID_KEY]);
    const state = stateFromLive(live, context.inputs, notes, { before, sent: write.sent });
    // A write that was ignored leaves the old value, with its secret.
    const old = notedSecrets(before ?? {}).filter((field) => differing.some((name) => name === field));
    return this.marked(state, withSecretsNote(news, [...notedSecrets(news), ...old]));
  }

  /**
   * Deletes the endpoint. Succeeds if it is already gone. If another entry has the endpoint, it stays, and only this entry goes.
   *
   * @throws UserError if a resource of this run adopts the endpoint, and has not taken it over.
   */
  async delete(id: string, stored: State): Promise<void> {
    const owner = this.owners.release(id, stored);
    await this.operation(`delete ${id}`, async () => {
      if (owner === "claim") throw notDeleted(id);
      if (owner === "entry") return this.log.info(belongsToAnother(id));
      const api = this.apiFor(stored);
      try {
        await api.delete(id);
      } catch (error) {
        // A 404 of a deletion, or a reply that is no 204, proves nothing.
        if (!isNotFound(error) && !(error instanceof ReplyError)) throw error;
        if (await this.undefinedIfGone(api.get(id), id, stored)) throw error;
      }
    });
  }

  /** The live endpoint, or undefined if a 404 means that it is gone. */
  private async undefinedIfGone(
    reading: Promise<Endpoint>,
    id: string,
    stored: State,
  ): Promise<Endpoint | undefined> {
    return reading.catch((notFound: unknown) => {
      if (!isNotFound(notFound)) throw notFound;
      return confirmGone(this.apiFor(stored), { id, stored, notFound });
    });
  }

  private writeContext<T extends PreviewInputs>(inputs: T, before: State = {}): WriteContext<T> {
    const { owners, log } = this;
    return { api: this.apiFor(inputs, before), inputs, displayUrl: displayUrl(inputs), owners, log };
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

/** For `catch` of a read that may find nothing. */
function undefinedIfNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

/** @throws UserError if the endpoint is no cloud endpoint. */
function assertCloud({ id, type }: Endpoint): void {
  if (type !== undefined && type !== "cloud") throw wrongType(id, type);
}
