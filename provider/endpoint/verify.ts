import { EndpointsError, ReplyError } from "../service/apiErrors";
import type { Endpoint } from "../service/contract";
import { changesBetween } from "./documents";
import { notShown, storedOtherwise } from "./errors";
import { isSatisfied, isUnordered, type ManagedInput, type PreviewInputs, wireValue } from "./fields";
import { displayPath } from "./secrets";
import { inputsFromLive } from "./state";
import type { AcceptedWrite, WriteContext } from "./write";

/*
 * A service may accept a write without making it, or store another value. So each sent field is compared with the reply, and if one is
 * missing or differs, with the endpoint itself. The state has what the service has, so the next preview shows the difference.
 */

/** For `catch` of an update: turns an unreadable reply into a value, because the service may have made the write. */
export function asUnreadableReply(error: unknown): ReplyError {
  if (error instanceof ReplyError) return error;
  throw error;
}

/** The wait before the read by id, in milliseconds: a write may take effect late. */
const READ_DELAY = 5_000;

/**
 * Compares the live endpoint with what was sent. Warns of what differs.
 *
 * @returns The live endpoint, and the sent fields that have other values. Fields that the service does not show have the sent values.
 * @throws ReplyError if the reply cannot be read, and the endpoint cannot be read or differs.
 */
export async function verifyWrite(
  { id, reply, sent, wanted }: AcceptedWrite,
  { api, displayUrl, log }: WriteContext,
): Promise<{ live: Endpoint; differing: ManagedInput[] }> {
  const differingIn = (live: Endpoint) => {
    const found = inputsFromLive(live);
    return sent.filter((name) => !isSatisfied(name, found[name], wanted[name]));
  };
  let live = reply instanceof ReplyError ? undefined : reply;
  if (!live || differingIn(live).length > 0) {
    await api.http.clock.sleep(READ_DELAY);
    // If the read fails, what the reply shows counts, because the service has accepted the write.
    live = await api.get(id).catch((error: unknown) => {
      if (live && error instanceof EndpointsError) return live;
      throw error instanceof EndpointsError ? reply : error;
    });
  }
  const shown = live;
  const unshown = sent.filter((name) => !(name in shown) && wanted[name] !== undefined);
  const unsatisfied = differingIn(shown);
  if (reply instanceof ReplyError && unsatisfied.length > 0) throw reply;

  const differing = unsatisfied.filter((name) => !unshown.includes(name));
  const unverified = unsatisfied.filter((name) => unshown.includes(name));
  if (unverified.length > 0) log.warn(notShown(displayUrl, unverified));
  if (differing.length > 0) log.warn(storedOtherwise(displayUrl, placesOf(differing, wanted, shown)));
  const sentValues = unshown.map((name) => [name, wireValue(name, wanted[name])]);
  return { live: { ...shown, ...Object.fromEntries(sentValues) }, differing };
}

/** The most places of differences in a message. */
const MAX_PLACES = 3;

/** The places that differ, without their values. */
function placesOf(names: ManagedInput[], wanted: PreviewInputs, live: Endpoint): string {
  const found = inputsFromLive(live);
  const places = names.flatMap((name) =>
    isUnordered(name) ? [[name]] : changesBetween(wanted[name], found[name], [name]).map(({ path }) => path),
  );
  const texts = places.slice(0, MAX_PLACES).map((path) => displayPath(path, wanted));
  const more = places.length - texts.length;
  return [...texts, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}
