import type { JsonObject, Path } from "../../sdk/traffic-policy/data/index";
import { oneLine } from "../../sdk/traffic-policy/data/index";
import { EndpointsError, ReplyError } from "../service/apiErrors";
import type { Log } from "../service/client";
import { TimeBudget } from "../service/clock";
import type { Endpoint } from "../service/contract";
import type { EndpointsApi } from "../service/endpoints";
import { changesBetween } from "./documents";
import { changeIgnored, notShown, storedOtherwise, unverified } from "./errors";
import { isSatisfied, isUnordered, type ManagedInput, type PreviewInputs, wireValue } from "./fields";
import { displayPath, hasSecrets } from "./secrets";
import { inputsFromLive } from "./state";

/*
 * A service may accept a write without making it, or store another value. So each sent field is compared with the reply. If a field
 * is missing or differs, reads by id decide. An error carries the live properties, so that the next `up` repairs the difference.
 */

/** A create, an update, a move or an adoption that the service has accepted. */
export interface AcceptedWrite {
  id: string;
  /** The endpoint as the service answered; an error if the answer cannot be read. */
  reply: Endpoint | ReplyError;
  sent: readonly ManagedInput[];
  /** The inputs that were sent. */
  wanted: PreviewInputs;
  /** The state's or the live properties before the write, with documents as data. Undefined for a new endpoint. */
  before?: JsonObject;
}

/** For `catch` of an update: turns an unreadable reply into a value, because the service may have made the write. */
export function asUnreadableReply(error: unknown): ReplyError {
  if (error instanceof ReplyError) return error;
  throw error;
}

/** The fields that the service does not show, as far as this process knows. */
export class UnshownFields {
  /** The fields that the process no longer looks for. */
  readonly names = new Set<ManagedInput>();
  /** The first search for each field that a reply lacked. Concurrent writes wait for this search, and make no requests. */
  readonly searches = new Map<ManagedInput, Promise<unknown>>();
}

interface Verification {
  api: EndpointsApi;
  /** The URL for messages. */
  displayUrl: string;
  log: Log;
  unshown: UnshownFields;
}

interface VerifiedWrite {
  /** The live endpoint. Fields that the service does not show have the values that were sent. */
  live: Endpoint;
  /** The fields that still have their old values. */
  ignored: ManagedInput[];
  /** The reason why the write failed; undefined if it did not. */
  failure: string | undefined;
}

/** The waits before the reads by id, in milliseconds: a write may take effect late. */
const READ_DELAYS = [0, 5_000];

/**
 * Compares the live endpoint with what was sent, and reads it again if they differ.
 *
 * @throws ReplyError if the answer cannot be read, and no read succeeds.
 */
export async function verifyWrite(write: AcceptedWrite, context: Verification): Promise<VerifiedWrite> {
  const { id, reply, sent, wanted } = write;
  const { api, log, displayUrl, unshown } = context;
  const { clock, settings } = api.http;
  const budget = new TimeBudget(clock, settings.retryForSeconds * 1000);
  let live = reply instanceof ReplyError ? undefined : reply;
  let found = live && inputsFromLive(live);
  let wasRead = false;
  let readError: EndpointsError | undefined;
  const differing = (): ManagedInput[] => {
    if (!live || !found) return [...sent];
    const [shown, values] = [live, found];
    const isCompared = (name: ManagedInput) => name in shown || !unshown.names.has(name);
    return sent.filter((name) => isCompared(name) && !isSatisfied(name, values[name], wanted[name]));
  };
  const missing = () => differing().filter((name) => live && !(name in live));

  const search = async () => {
    for (const wait of READ_DELAYS) {
      if (differing().length === 0) return;
      await clock.sleep(wait);
      try {
        const read = await api.get(id, budget);
        // The reply may have a field that a read lacks. But a field that was cleared is gone.
        live = { ...live, ...read };
        for (const name of sent) if (isNone(wanted[name]) && !(name in read)) delete live[name];
        found = inputsFromLive(live);
        wasRead = true;
      } catch (error) {
        // The service has accepted the write, so a failed read decides nothing: what the reply shows stays.
        if (!(error instanceof EndpointsError)) throw error;
        readError = error;
      }
    }
    const hidden = wasRead && !(reply instanceof ReplyError) ? missing() : [];
    if (hidden.length > 0) log.warn(notShown(displayUrl, hidden));
    for (const name of hidden) unshown.names.add(name);
  };

  await Promise.all(missing().map((name) => unshown.searches.get(name)));
  const searching = search();
  for (const name of missing()) if (!unshown.searches.has(name)) unshown.searches.set(name, searching);
  await searching;
  if (!live || !found) throw reply;
  return verifiedWrite(write, { live, found, differing: differing(), readError }, context);
}

interface Comparison {
  /** The reply with the reads over it. */
  live: Endpoint;
  /** The inputs that describe it. */
  found: JsonObject;
  /** The sent fields that have not been found. */
  differing: ManagedInput[];
  /** The failure of a read. */
  readError: EndpointsError | undefined;
}

function verifiedWrite(
  { id, reply, sent, wanted, before }: AcceptedWrite,
  { live, found, differing, readError }: Comparison,
  { api, displayUrl, log }: Verification,
): VerifiedWrite {
  const { apiKey } = api.http.settings;
  // The old value may have a secret that the program no longer has.
  const hides = () => [wanted, found, before ?? {}].some((props) => hasSecrets(props, apiKey));
  const isOld = (name: ManagedInput) => before !== undefined && isSame(name, found[name], before[name]);
  const missing = differing.filter((name) => !(name in live));
  const ignored = differing.filter((name) => name in live && isOld(name));
  const others = differing.filter((name) => name in live && !isOld(name));

  const absent = sent.filter((name) => !(name in live) && wanted[name] !== undefined);
  const assumed = Object.fromEntries(absent.map((name) => [name, wireValue(name, wanted[name])]));
  const result = { live: { ...live, ...assumed }, ignored, failure: undefined };
  if (reply instanceof ReplyError && differing.length > 0) return { ...result, failure: reply.message };

  if (missing.length > 0 && readError) log.warn(unverified(displayUrl, missing, readError));
  if (others.length > 0) log.warn(storedOtherwise(displayUrl, textOf(others, wanted, found, hides())));
  if (ignored.length === 0) return result;
  return { ...result, failure: changeIgnored(id, textOf(ignored, wanted, found, hides()), readError) };
}

/** Whether `diff` finds two values of a field equal. Services have several forms of a missing value. */
const isSame = (name: ManagedInput, live: unknown, before: unknown): boolean =>
  (isNone(live) && isNone(before)) || isSatisfied(name, live, before);

const isNone = (value: unknown): boolean =>
  value === undefined || value === "" || value === false || (Array.isArray(value) && value.length === 0);

/** The most places of differences in a message. */
const MAX_PLACES = 3;

/** The places that differ. @param hides Whether their values are left out, because the endpoint has a secret. */
function textOf(names: ManagedInput[], wanted: PreviewInputs, found: JsonObject, hides: boolean): string {
  const places = names.flatMap((name) =>
    isUnordered(name) ? [[name]] : changesBetween(wanted[name], found[name], [name]).map(({ path }) => path),
  );
  const texts = places.slice(0, MAX_PLACES).map((path) => {
    const values = `sent ${valueText(wanted, path)}, lives ${valueText(found, path)}`;
    return hides ? displayPath(path, wanted) : `${displayPath(path, wanted)} (${values})`;
  });
  const more = places.length - texts.length;
  return [...texts, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

function valueText(props: object, path: Path): string {
  const value = path.reduce((part: unknown, key) => Object(part)[key], props);
  return value === undefined ? "nothing" : oneLine(JSON.stringify(value), 100);
}
