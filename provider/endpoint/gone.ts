import { type ApiError, EndpointsError, isNotFound, isOfService } from "../service/apiErrors";
import { createdAt } from "../service/clock";
import type { LiveEndpoint } from "../service/contract";
import type { EndpointsApi } from "../service/endpoints";
import type { Age, Reading } from "../service/list";
import { goneUnproven, OtherAccountError, stillListed } from "./errors";
import { ACCOUNT_KEY, accountFingerprint, type State } from "./state";

/*
 * A 404 proves little: the base URL may lack a path prefix, a gateway may have answered in place of the service, or the key
 * may belong to another account. Pulumi drops every resource that a provider reports as gone, without a question. So an
 * endpoint counts as gone only with a second piece of evidence. Evidence that is missing makes an error, never "gone".
 */

/** How long a list, or a read by id, may lag behind a write, in milliseconds. */
const LIST_LAG = 5_000;

/** An endpoint for which the service answered 404. */
interface Absence {
  id: string;
  stored: State;
  notFound: ApiError;
  /** Whether the entry of another endpoint in this run was written with this account. */
  isOfAccount(id: string, account: unknown): boolean;
}

/**
 * Decides whether an endpoint is gone after a 404.
 *
 * @returns The endpoint if the service has it after all, because a read by id may lag; undefined if it is gone.
 * @throws UserError if neither is proven. The message has the findings and the next step.
 */
export async function confirmGone(api: EndpointsApi, absence: Absence): Promise<LiveEndpoint | undefined> {
  const { id, stored, notFound } = absence;
  const { clock } = api.http;
  try {
    let reading = await readEvidence(api, notFound, "anyAge");
    if (isListed(reading, id) || isYoung(api, reading, stored)) {
      await clock.sleep(LIST_LAG);
      const live = await api.get(id).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
      if (live) return live;
      reading = await readEvidence(api, notFound, "fromNow");
      if (isListed(reading, id)) throw stillListed(id, notFound);
    }
    await assertAccount(api, reading, absence);
    return undefined;
  } catch (error) {
    throw error instanceof EndpointsError ? goneUnproven(id, error) : error;
  }
}

/** A reading of the list that would show a wrong base URL: after the service's own 404 one page, after any other the whole list. */
async function readEvidence(api: EndpointsApi, notFound: ApiError, age: Age): Promise<Reading> {
  const reading = api.list.whole(age);
  await (isOfService(notFound) ? reading.firstPage() : reading.toEnd());
  return reading;
}

/**
 * @throws UserError unless this is the account with the stack's endpoints: the state has its fingerprint, or the list shows another
 *   endpoint whose entry has the same fingerprint as this one.
 */
async function assertAccount(
  { http }: EndpointsApi,
  reading: Reading,
  { id, stored, isOfAccount }: Absence,
): Promise<void> {
  const account = stored[ACCOUNT_KEY];
  if (account === accountFingerprint(http.settings)) return;
  const isEvidence = (other: string) => other !== id && isOfAccount(other, account);
  const isProven = () => [...reading.endpoints.keys()].some(isEvidence);
  await reading.until(isProven);
  if (!isProven()) throw new OtherAccountError(id, reading.endpoints.size, http.settings.baseUrl);
}

const isListed = ({ endpoints, skipped }: Reading, id: string) =>
  endpoints.has(id) || skipped.some((item) => item.id === id);

/** Whether the endpoint was so new, when the reading began, that the list need not show it yet. */
function isYoung({ http }: EndpointsApi, { began }: Reading, stored: State): boolean {
  const born = createdAt(stored);
  const then = http.serviceClock.at(began) ?? began;
  return born === undefined || born > then - LIST_LAG;
}
