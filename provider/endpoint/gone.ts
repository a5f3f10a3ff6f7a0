import { ApiError, EndpointsError, hasServiceCode, isNotFound } from "../service/apiErrors";
import type { Endpoint } from "../service/contract";
import type { EndpointsApi } from "../service/endpoints";
import { isInListing } from "../service/list";
import { assertAccount, type MissingEndpoint } from "./account";
import { goneUnproven, stillListed } from "./errors";

/*
 * A 404 proves little: the base URL may lack a path prefix, a gateway may have answered in place of the service, the service may
 * answer wrongly for a moment, or the key may belong to another account. Pulumi drops every resource that a provider reports as
 * gone, without a question. So an endpoint counts as gone after two reads by id and a list without it. If one of them fails, the
 * operation fails.
 */

/** The time between the two reads by id, in milliseconds. Lists and reads may lag so long behind a write. */
const DELAY_BETWEEN_READS = 5_000;

/** An endpoint for which a read by id ended in 404. */
interface Absence extends MissingEndpoint {
  notFound: ApiError;
  /** Whether the program only reads it (`CloudEndpoint.get`). */
  isOnlyRead: boolean;
}

/**
 * Decides whether an endpoint is gone after a 404.
 *
 * @returns The endpoint if the service has it after all; undefined if it is gone.
 * @throws UserError if neither is proven. The message has the findings and the next step.
 */
export async function confirmGone(api: EndpointsApi, absence: Absence): Promise<Endpoint | undefined> {
  const { id, isOnlyRead, notFound } = absence;
  await api.http.clock.sleep(DELAY_BETWEEN_READS);
  const again = await api.get(id).catch((error: unknown) => {
    if (isNotFound(error)) return error;
    throw error;
  });
  if (!(again instanceof ApiError)) return again;
  const notFounds = [notFound, again];
  // No stack manages an endpoint that a program only reads, so a wrong answer loses nothing.
  if (isOnlyRead && notFounds.every(hasServiceCode)) return undefined;
  try {
    if (await isListed(api, id, notFounds)) throw stillListed(id, notFound);
    if (!isOnlyRead) await assertAccount(api, absence);
    return undefined;
  } catch (error) {
    throw error instanceof EndpointsError ? goneUnproven(id, error) : error;
  }
}

/** The endpoint with this id. Undefined after two reads that end in the service's own 404. */
export async function findTwice(api: EndpointsApi, id: string): Promise<Endpoint | undefined> {
  const live = await api.find(id);
  if (live) return live;
  await api.http.clock.sleep(DELAY_BETWEEN_READS);
  return api.find(id);
}

/**
 * Whether the list shows the endpoint. After the service's own 404s, a list of this id is enough if the service takes filters. Any
 * other 404 may come from another server, so the whole list must answer.
 */
async function isListed(api: EndpointsApi, id: string, notFounds: ApiError[]): Promise<boolean> {
  if (notFounds.every(hasServiceCode)) {
    const isFound = await api.list.isListedByFilter(id);
    if (isFound !== undefined) return isFound;
  }
  const known = api.list.listingSinceWriteOf(id);
  await known.readToEnd();
  if (!isInListing(known, id)) return false;
  // That listing may be older than the deletion.
  const fresh = api.list.fullListing("fresh");
  await fresh.readToEnd();
  return isInListing(fresh, id);
}
