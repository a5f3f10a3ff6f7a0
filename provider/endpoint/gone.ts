import type { JsonObject } from "../data/index";
import { type ApiError, EndpointsError, isNotFound } from "../service/apiErrors";
import type { Endpoint } from "../service/contract";
import type { EndpointsApi } from "../service/endpoints";
import { ID } from "../service/replySchemas";
import { goneUnproven, itemUnreadable, otherAccount, stillListed } from "./errors";
import { accountFingerprint, FINGERPRINT_KEY } from "./state";

/*
 * A 404 proves little: the base URL may lack a path prefix, a gateway may have answered in place of the service, the service may
 * answer wrongly for a moment, or the key may belong to another account. Pulumi drops every resource that a provider reports as
 * gone, without a question. So an endpoint counts as gone after two reads by id and a whole list without it, with the base URL and
 * key that the state was written with. If one of them fails, the operation fails.
 */

/** The time between the two reads by id, in milliseconds. Lists and reads may lag this long behind a write. */
const DELAY_BETWEEN_READS = 5_000;

/** An endpoint for which a read by id ended in 404. */
interface Absence {
  id: string;
  state: JsonObject;
  notFound: ApiError;
}

/** The endpoint of a read by id; undefined if it is gone. @throws UserError if a 404 proves neither. */
export const undefinedIfGone = (
  reading: Promise<Endpoint>,
  api: EndpointsApi,
  id: string,
  state: JsonObject,
): Promise<Endpoint | undefined> =>
  reading.catch((notFound: unknown) => {
    if (!isNotFound(notFound)) throw notFound;
    return confirmGone(api, { id, state, notFound });
  });

/**
 * Decides whether an endpoint is gone after a 404.
 *
 * @returns The endpoint if the service has it after all; undefined if it is gone.
 * @throws UserError if neither is proven. The message has the findings and the next step.
 */
async function confirmGone(
  api: EndpointsApi,
  { id, state, notFound }: Absence,
): Promise<Endpoint | undefined> {
  const { clock, settings } = api.http;
  await clock.sleep(DELAY_BETWEEN_READS);
  const live = await api.get(id).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (live) return live;
  const listing = api.list.fullListing("recent");
  await listing.readToEnd().catch((error: unknown) => {
    throw error instanceof EndpointsError ? goneUnproven(id, error) : error;
  });
  const { endpoints, skipped } = listing;
  if (endpoints.has(id) || skipped.some((item) => item.id === id)) throw stillListed(id, notFound);
  if (skipped.some((item) => !ID.test(item.id ?? ""))) throw itemUnreadable(id);
  if (state[FINGERPRINT_KEY] !== accountFingerprint(settings))
    throw otherAccount(id, endpoints.size, settings);
  return undefined;
}
