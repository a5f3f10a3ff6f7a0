import { ApiError, codeNumber, EndpointsError, UserError } from "../api/apiErrors";
import type { LiveEndpoint } from "../api/contract";
import { isSameStack, ownerText } from "../api/mark";
import { oneLine } from "../api/text";
import { urlOf } from "../api/url";
import { takeOverLeftover } from "./adopt";
import { urlLookup } from "./errors";
import type { Inputs } from "./fields";
import { LIST_LAG } from "./gone";
import { type Claim, isLeftover, otherStack } from "./owners";

/*
 * A refused create or move may have met another endpoint on its URL: one that an earlier run left behind, one that leaves it in
 * this run, or somebody else's.
 */

/** Codes of refusals that may pass: a domain was just reserved, or a URL just freed. */
const PASSING: readonly unknown[] = [18006, 18009, 18016, 18017];

/** The waits before a request is sent again if its refusal may pass, in milliseconds. Nothing is sent more often. */
const TRY_AGAIN_AFTER = [1_000, 2_000, 4_000];

/** How long to wait for an endpoint that may leave the URL in this run, in milliseconds. */
const LONGEST_WAIT = 5_000;

/** How often the wait looks whether it has left. Takes no request. */
const LOOK_EVERY = 250;

/** Whether the service refused the request. With any code, the reason may be a taken URL. */
const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && [400, 409, 422].includes(error.status);

/**
 * Sends a create or a move, again if an endpoint leaves the URL or if the refusal may pass.
 *
 * @returns Its reply, or what an earlier run left on the URL of a create, taken over.
 * @throws The refusal, if nothing holds the URL; UserError that names the holder and the ways out.
 */
export async function sendToFreeUrl(claim: Claim, send: () => Promise<LiveEndpoint>): Promise<LiveEndpoint> {
  const { api, owner, owners, mover } = claim;
  for (let tries = 0; ; tries++) {
    try {
      return await send();
    } catch (refusal) {
      if (!isRefusal(refusal)) throw refusal;
      const mayPass = refusal.status === 409 || PASSING.includes(codeNumber(refusal));
      const wait = mayPass ? TRY_AGAIN_AFTER[tries] : undefined;
      const holders = await findHolders(claim, refusal, { isLast: wait === undefined && tries > 0 });
      const leftover = mover === undefined && holders.find((live) => isLeftover(live, owner, owners));
      if (leftover) return takeOverLeftover(leftover, claim);
      const [holder] = holders;
      if (holder) {
        if (tries === TRY_AGAIN_AFTER.length || !(await leaves(holder, claim)))
          throw urlTaken(refusal, holder, claim);
      } else {
        if (wait === undefined) throw refusal;
        await api.http.clock.sleep(wait);
      }
    }
  }
}

/**
 * The endpoints of any type that hold the URL, each read by id, because the list may be out of date. A filter may omit the
 * holder, so the last look reads the whole list.
 */
async function findHolders(
  { api, inputs, owners, mover, shownUrl }: Claim,
  refusal: ApiError,
  { isLast }: { isLast: boolean },
): Promise<LiveEndpoint[]> {
  const since = api.http.clock.now() - LIST_LAG;
  const found: LiveEndpoint[] = [];
  try {
    const listed = isLast ? await api.list.all(since) : await api.list.onUrl(inputs.url, since);
    for (const { id } of listed) {
      const live = id === mover || owners.fates.get(id) === "gone" ? undefined : await api.find(id);
      if (live && holds(live, inputs)) found.push(live);
    }
  } catch (error) {
    // The refusal is reported even if the holder cannot be named.
    throw error instanceof EndpointsError ? urlLookup(refusal, error, shownUrl) : error;
  }
  return found;
}

/**
 * Waits for an endpoint that may leave the URL in this run. The engine may ask for that only after this call, so an endpoint that
 * this process has not met yet is waited for, too. The time in which its own request is on its way does not count.
 */
async function leaves(holder: LiveEndpoint, { api, inputs, owner, owners }: Claim): Promise<boolean> {
  const { id, type } = holder;
  const isStranger = !owners.knows(id) && otherStack(holder, owner) !== undefined;
  if (type !== "cloud" || isStranger) return false;
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

/** Whether an endpoint keeps the URL from this resource. The members of a pool share theirs. */
export const holds = (live: LiveEndpoint, inputs: Inputs): boolean =>
  urlOf(live) === inputs.url && !(inputs.poolingEnabled === true && live.poolingEnabled === true);

/** The error of a create or move whose URL another endpoint holds. */
export function urlTaken(refusal: EndpointsError, holder: LiveEndpoint, claim: Claim): UserError {
  const { id, type, createdAt, createdFor } = holder;
  const what = [
    type === "cloud" ? "a cloud endpoint" : `an endpoint of type ${oneLine(type ?? "unknown", 100)}`,
    createdAt && `created at ${oneLine(createdAt, 100)}`,
    createdFor && `created for ${oneLine(ownerText(createdFor), 300)}`,
  ];
  const served = `${claim.shownUrl} is served by ${id}, ${what.filter(Boolean).join(", ")}`;
  return new UserError(`${[refusal.summary, served, ...waysOut(holder, claim)].join(". ")}.`);
}

/** The causes of a taken URL with their ways out, likeliest first. A mark rules causes out. */
function waysOut({ id, type, createdFor }: LiveEndpoint, { owner, owners, mover }: Claim): string[] {
  if (type !== "cloud") return ["Choose another url, or stop the agent or edge that serves it"];
  if (owners.fates.get(id) === "stays")
    return [
      "It belongs to another resource of this stack, which keeps this URL: give each its own url, or set poolingEnabled on both",
    ];
  const sibling = isSameStack(createdFor, owner) ? createdFor : undefined;
  const alias = sibling ? `"${oneLine(sibling.urn, 300)}"` : '{ name: "its old name" }';
  const renamed = `If you renamed or moved this resource, give it aliases: [${alias}]`;
  const ofStack =
    "If another resource of this stack has it (`pulumi stack --show-ids --show-urns`), run `pulumi up --target` with that resource's URN first, or `pulumi up --replace` if the two swap their URLs. A replacement frees its URL only with the option deleteBeforeReplace";
  const foreign = "If it is somebody else's, choose another url";
  const left = `if a killed run left it behind, set adopt: "${id}" to take it over`;
  const isOfOtherStack = owner !== undefined && createdFor !== undefined && !sibling;
  const ofThisStack = mover === undefined ? [renamed, ofStack] : [ofStack];
  return [...(isOfOtherStack ? [] : ofThisStack), mover === undefined ? `${foreign}; ${left}` : foreign];
}
