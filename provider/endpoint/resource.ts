import type { JsonObject } from "../data/index";
import { hasUnknown } from "../pulumi/sentinels";
import { EndpointsError, isNotFound, ReplyError, UserError, undefinedIfNotFound } from "../service/apiErrors";
import type { Log } from "../service/client";
import type { Endpoint } from "../service/contract";
import type { EndpointsApi } from "../service/endpoints";
import type { Settings } from "../service/settings";
import { adopt, claimed, fittingEndpoint, logPlannedAdoption } from "./adopt";
import { createOnce, sendUntilCertain } from "./create";
import {
  adoptIgnored,
  adoptSettingIsLeft,
  adoptsReplaced,
  belongsToAnother,
  listedUnreadable,
  notDeleted,
  OperationError,
  otherFingerprint,
  policyRemoved,
  updateNotFound,
} from "./errors";
import type { PreviewInputs } from "./fields";
import { undefinedIfGone } from "./gone";
import {
  type Checked,
  checkInputs,
  type EngineInputs,
  engineInputs,
  knownInputs,
  PROVIDER_KEY,
} from "./inputs";
import { Owners } from "./owners";
import { readEndpoint, readManaged, readNamed } from "./readEndpoint";
import { answerForEngine, displayUrl, hasSecrets, notedSecrets, withSecretsNote } from "./secrets";
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
  /** The stack of the current call. A dynamic provider does not receive it. */
  stack?(): string;
}

export interface DiffResult {
  changes: boolean;
  replaces: string[];
  /** Always true: a URL belongs to one endpoint at a time. */
  deleteBeforeReplace: boolean;
}

/** The life of a cloud endpoint: each of Pulumi's operations in terms of the service. Answers have their secrets marked. */
export class CloudEndpoints {
  private readonly owners = new Owners(() => this.deps.stack?.());
  private isFingerprintReported = false;
  private hasWarnedOfAdoption = false;
  private listed: Promise<(Endpoint | undefined)[]> | undefined;

  constructor(private readonly deps: Dependencies) {}

  /** Finds all mistakes. If the resource adopts an endpoint, it reads it, claims it, and logs the changes. */
  async check(oldInputs: JsonObject, news: JsonObject): Promise<Checked> {
    const checked = checkInputs(news);
    if (checked.failures.length > 0) return checked;

    try {
      // Finds a missing key or base URL at the preview, before anything is done.
      this.deps.connect();
      const inputs = engineInputs(checked.inputs);
      if (Object.keys(oldInputs).length > 0) this.owners.recordInState(inputs);
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
    const isListed = inputs.adopt === undefined;
    const id = inputs.adopt ?? (await this.fittingListed(context));
    // The hosts of both providers fail on a key without a value.
    if (id === undefined) return;
    inputs.adopt = id;
    const live = await claimed(id, context);
    logPlannedAdoption(live, context, { isListed, warns: !this.hasWarnedOfAdoption });
    this.hasWarnedOfAdoption = true;
  }

  /** The id of `endpoints:adopt` that a resource takes over. To choose, each id is read once a process. */
  private async fittingListed(context: WriteContext<PreviewInputs>): Promise<string | undefined> {
    const { api } = context;
    const { adopt: ids } = api.http.settings;
    const read = (id: string) => readEndpoint(api, id, {}).catch(undefinedIfNotFound);
    try {
      this.listed ??= Promise.all(ids.map(read));
      const chosen = fittingEndpoint(await this.listed, context);
      // The endpoint may have changed since it was read to choose.
      return chosen === undefined ? undefined : fittingEndpoint([await read(chosen)], context);
    } catch (error) {
      for (const id of ids) this.owners.keepFromDeletion(id, notDeleted(id));
      throw error instanceof EndpointsError ? listedUnreadable(error) : error;
    }
  }

  /**
   * Compares the program's inputs with the state. Makes no request.
   *
   * @throws UserError if another resource of the program has the endpoint or will adopt it, if the program removes the policy that it
   *   gave, or if it adopts the endpoint that it replaces.
   */
  async diff(id: string, state: State, inputs: EngineInputs): Promise<DiffResult> {
    const { changed, setOrUnset, replace, hasStaleNotes } = difference(state, inputs);
    if (setOrUnset.includes("trafficPolicy") && inputs.trafficPolicy === undefined) throw policyRemoved();
    if (replace && inputs.adopt === id) throw adoptsReplaced(id);
    this.owners.recordWanted(id, state, inputs);
    const settings = this.settings();
    if (settings?.adopt.includes(id)) this.deps.log.warn(adoptSettingIsLeft);
    const { adopt = id } = inputs;
    if (!replace && adopt !== id && !hasUnknown(adopt)) this.deps.log.warn(adoptIgnored(id, adopt));
    if (changed.length === 0 && settings) this.reportOtherFingerprint(settings, state);
    // Outputs from a plugin's state lack the provider string, without which Pulumi can neither read nor delete the resource.
    const lacksProviderString = inputs[PROVIDER_KEY] !== undefined && state[PROVIDER_KEY] === undefined;
    return {
      changes: changed.length > 0 || hasStaleNotes || lacksProviderString,
      replaces: replace ? ["url"] : [],
      deleteBeforeReplace: true,
    };
  }

  /** Without this note, a preview with another account's key would only show no changes. */
  private reportOtherFingerprint(settings: Settings, { [FINGERPRINT_KEY]: fingerprint }: State): void {
    if (this.isFingerprintReported || fingerprint === undefined) return;
    if (fingerprint === accountFingerprint(settings)) return;
    this.isFingerprintReported = true;
    this.deps.log.info(otherFingerprint(settings.baseUrl));
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
  async read(id: string, state: State): Promise<{ id: string; props: State; inputs?: JsonObject }> {
    // What a program only reads (`CloudEndpoint.get`) is no entry, and has no notes.
    const isManaged = VERSION_KEY in state;
    if (isManaged) this.owners.recordEntry(id, state);
    return this.operation(`read ${id}`, async () => {
      const api = this.apiFor(state);
      // A list may omit outputs, and Pulumi would continue without them. So `get` reads by id.
      const live = isManaged ? await readManaged(api, id, state) : await readNamed(api.get(id), id);
      if (!live) return { id: "", props: {} };
      const { props, inputs } = refreshedFromLive(live, state);
      // The service has shown the endpoint to this key, so a rotated key becomes the one of the state.
      if (isManaged) props[FINGERPRINT_KEY] = accountFingerprint(api.http.settings);
      return { id, ...foundForEngine({ props, inputs }, state) };
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
      const live = await readNamed(readEndpoint(api, id, {}), id);
      const notes = entryNotes(api.http.settings);
      this.owners.recordNewEntry(id, notes[ENTRY_ID_KEY]);
      return { id, ...foundForEngine(importedFromLive(live, notes), {}) };
    });
  }

  /** Sends the fields that differ. Makes no request if none does. */
  async update(id: string, state: State, news: EngineInputs): Promise<{ outs: State }> {
    const inputs = knownInputs(news);
    const { changed } = difference(state, inputs);
    return this.operation(`update ${id}`, async () => {
      this.owners.assertSole(id, state);
      if (changed.length === 0) return { outs: answerForEngine(stateWithNewNotes(state, inputs), news) };
      const context = { ...this.writeContext(inputs, state), updatedId: id };
      const wanted = withServiceDefaults(inputs, state);
      const patch = () => context.api.update(id, wireFromInputs(wanted, changed));
      const reply = await (changed.includes("url") ? sendUntilCertain(context, patch) : patch())
        .catch((error: unknown) => {
          throw isNotFound(error) ? updateNotFound(id, error) : error;
        })
        .catch(asUnreadableReply);
      return { outs: await this.stateAfter({ id, reply, sent: changed, wanted }, context, news, state) };
    });
  }

  /** The state after a write, with its secrets marked: what the service has, also where it differs from what was sent. */
  private async stateAfter(
    write: AcceptedWrite,
    context: WriteContext,
    news: EngineInputs,
    state?: State,
  ): Promise<State> {
    const { live, differing } = await verifyWrite(write, context);
    const notes = entryNotes(context.api.http.settings, state?.[ENTRY_ID_KEY]);
    const outs = stateFromLive(live, context.inputs, notes, { state, sent: write.sent });
    // A write that was ignored leaves the old value, with its secret.
    const old = notedSecrets(state ?? {}).filter((field) => differing.some((name) => name === field));
    return answerForEngine(outs, withSecretsNote(news, [...notedSecrets(news), ...old]));
  }

  /**
   * Deletes the endpoint. Succeeds if it is already gone. If another entry has the endpoint, it stays, and only this entry goes.
   *
   * @throws UserError if a resource of this run adopts the endpoint, and has not taken it over, or could not be created because of it.
   */
  async delete(id: string, state: State): Promise<void> {
    await this.operation(`delete ${id}`, async () => {
      if (this.owners.recordDeletion(id, state)) return this.deps.log.info(belongsToAnother(id));
      const api = this.apiFor(state);
      try {
        await api.delete(id);
      } catch (error) {
        // A 404 of a deletion, or a reply that is no 204, proves nothing.
        if (!isNotFound(error) && !(error instanceof ReplyError)) throw error;
        if (await undefinedIfGone(api.get(id), api, id, state)) throw error;
      }
    });
  }

  private writeContext<T extends PreviewInputs>(inputs: T, state: State = {}): WriteContext<T> {
    const { owners } = this;
    const { log } = this.deps;
    const [api, stack] = [this.apiFor(inputs, state), this.deps.stack?.()];
    return { api, inputs, displayUrl: displayUrl(inputs), stack, owners, log };
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
    return this.deps.connect().redacting({ hasSecrets: () => all.some(hasSecrets) });
  }

  /** Names the operation in the error if the work fails. */
  private async operation<T>(name: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof UserError ? new OperationError(name, error) : error;
    }
  }
}

const foundForEngine = (found: { props: JsonObject; inputs: JsonObject }, state: JsonObject) => ({
  props: answerForEngine(found.props, state),
  inputs: answerForEngine(found.inputs, state),
});
