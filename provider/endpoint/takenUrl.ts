import { ApiError, codeNumber, EndpointsError, type UserError } from "../api/apiErrors";
import type { Log } from "../api/client";
import type { LiveEndpoint, Owner } from "../api/contract";
import type { EndpointsApi } from "../api/endpoints";
import type { Settings } from "../api/settings";
import { urlOf } from "../api/url";
import { urlLookup, urlTaken } from "./errors";
import type { Inputs } from "./fields";
import { LIST_LAG } from "./gone";
import { isLeftover, type Owners, otherStack } from "./owners";
import { shownUrl } from "./secrets";

/*
 * A refused create or move may have met another endpoint on its URL: one that an earlier run left behind, one that leaves it in
 * this run, or somebody else's.
 */

/** A create, or an update that changes the URL, and its dependencies. */
export interface Claim {
  api: EndpointsApi;
  settings: Settings;
  inputs: Inputs;
  /** With `endpoints:mark`, the resource. */
  owner: Owner | undefined;
  owners: Owners;
  log: Log;
  /** The endpoint that an update moves; undefined for a create. */
  mover?: string;
  /** Whether the resource had this URL before, so that a create replaces its own endpoint. */
  replacesItself?: boolean;
}

/** Codes of refusals that may pass: a domain was just reserved, or a URL just freed. */
const PASSING: readonly unknown[] = [18006, 18009, 18016, 18017];

/** The waits before a request is sent again after a refusal that may pass, in milliseconds. */
const TRY_AGAIN_AFTER = [1_000, 2_000, 4_000];

/** Refusals that are unlikely to be about a URL share a list of at most this age, in milliseconds. */
const SHARED_FOR = 60_000;

/** How long to wait for an endpoint that may leave the URL in this run, in milliseconds. */
const LONGEST_WAIT = 5_000;

/** How often the wait looks whether it has left. Takes no request. */
const LOOK_EVERY = 250;

/** Whether the service refused the request. With any code, the reason may be a taken URL. */
export const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && [400, 409, 422].includes(error.status);

/** Whether a later try may succeed if no endpoint is found on the URL. */
const mayPass = (error: ApiError) => error.status === 409 || PASSING.includes(codeNumber(error));

/** Decides about the refusals of one create or move. */
export class TakenUrl {
  private tries = 0;
  /** The endpoints that were waited for, once each. */
  private readonly waitedFor = new Set<string>();

  constructor(private readonly claim: Claim) {}

  /**
   * Returns when the request can be sent again: an endpoint has left the URL, or the refusal may pass.
   *
   * @returns What an earlier run left behind, to take over instead; undefined if there is nothing.
   * @throws The refusal, if nothing holds the URL; UserError that names the holder and the ways out.
   */
  async resolve(refusal: ApiError): Promise<LiveEndpoint | undefined> {
    const { api, inputs, owner, owners, mover, log } = this.claim;
    const wait = mayPass(refusal) ? TRY_AGAIN_AFTER[this.tries] : undefined;
    const holders = await this.holders(refusal, { isLast: wait === undefined && this.tries > 0 });
    const [holder] = holders;
    if (!holder) {
      if (wait === undefined) throw refusal;
      this.tries++;
      await api.http.clock.sleep(wait);
      return undefined;
    }
    const leftover = mover === undefined && holders.find((live) => isLeftover(live, owner, owners));
    if (leftover) {
      log.info(takesOver(shownUrl(inputs), leftover.id));
      return leftover;
    }
    for (const one of holders) if (await this.leaves(one)) return undefined;
    throw heldBy(this.claim, refusal, holder);
  }

  /**
   * The endpoints of any type that hold the URL, each read by id, because the list may be out of date. A filter may omit the
   * holder, so the last look reads the whole list.
   */
  private async holders(refusal: ApiError, { isLast }: { isLast: boolean }): Promise<LiveEndpoint[]> {
    const { api, inputs, owners, mover } = this.claim;
    const since = api.http.clock.now() - (mayPass(refusal) ? LIST_LAG : SHARED_FOR);
    const found: LiveEndpoint[] = [];
    try {
      const listed = isLast
        ? (await api.list.whole(since).toEnd()).filter((live) => urlOf(live) === inputs.url)
        : await api.list.onUrl(inputs.url, since);
      for (const { id } of listed) {
        const live = id === mover || owners.fates.get(id) === "gone" ? undefined : await api.find(id);
        if (live && holds(live, inputs)) found.push(live);
      }
    } catch (error) {
      // The refusal is reported even if the holder cannot be named.
      throw error instanceof EndpointsError ? urlLookup(refusal, error, shownUrl(inputs)) : error;
    }
    return found;
  }

  /**
   * Waits for an endpoint that may leave the URL in this run. The engine may ask for that only after this call, so an endpoint
   * that this process has not met yet is waited for, too. The time in which its own request is on its way does not count.
   */
  private async leaves(holder: LiveEndpoint): Promise<boolean> {
    const { api, inputs, owner, owners, replacesItself } = this.claim;
    const { id, type } = holder;
    const isStranger = !owners.accounts.has(id) && otherStack(holder, owner) !== undefined;
    if (this.waitedFor.has(id) || type !== "cloud" || isStranger || replacesItself) return false;
    this.waitedFor.add(id);
    for (let waited = 0; waited < LONGEST_WAIT && !owners.hasLeft(id); ) {
      if (owners.fates.get(id) === "stays") return false;
      await api.http.clock.sleep(LOOK_EVERY);
      if (owners.fates.get(id) !== "in motion") waited += LOOK_EVERY;
    }
    if (owners.hasLeft(id)) return true;
    // Another process of this run may have moved or deleted it.
    const live = await api.find(id);
    return live === undefined || urlOf(live) !== inputs.url;
  }
}

/** Whether an endpoint keeps the URL from this resource. The members of a pool share theirs. */
export const holds = (live: LiveEndpoint, inputs: Inputs): boolean =>
  urlOf(live) === inputs.url && !(inputs.poolingEnabled === true && live.poolingEnabled === true);

/** The error of a claim whose URL another endpoint holds. */
export const heldBy = (claim: Claim, failure: EndpointsError, holder: LiveEndpoint): UserError =>
  urlTaken(failure, shownUrl(claim.inputs), {
    ...claim,
    holder,
    stays: claim.owners.fates.get(holder.id) === "stays",
  });

/** Sends an update that moves the endpoint, again if another endpoint of this run leaves the URL. */
export async function sendToFreeUrl(claim: Claim, send: () => Promise<LiveEndpoint>): Promise<LiveEndpoint> {
  const takenUrl = new TakenUrl(claim);
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!isRefusal(error)) throw error;
      await takenUrl.resolve(error);
    }
  }
}

export const takesOver = (url: string, id: string): string =>
  `${url}: takes over ${id}, which an earlier run of this stack created (endpoints:mark)`;
