import type { LiveEndpoint, Owner } from "./api/contract";
import type { EndpointsApi } from "./api/endpoints";
import { isMapping } from "./api/json";
import { MARK_FIELD } from "./api/mark";
import { normalizeUrl } from "./api/url";
import { difference } from "./diff";
import { changesBetween, metadataFromText } from "./document";
import { AdoptAmbiguousError, AdoptNotFoundError, AdoptOtherSchemeError, WrongTypeError } from "./errors";
import { type CloudEndpointInputs, withData } from "./fields";
import { shownPlace, shownUrl } from "./markedSecrets";
import { refreshed, withoutGaps } from "./state";

/** The live endpoint that `adopt` names; undefined if none serves the URL. */
export async function findAdoptable(
  api: EndpointsApi,
  inputs: CloudEndpointInputs,
): Promise<LiveEndpoint | undefined> {
  if (typeof inputs.adopt === "string") {
    const id = inputs.adopt;
    const live = (await listed(api, id, inputs)) ?? (await byId(api, id));
    if (live.type !== "cloud") throw new WrongTypeError(id, live.type ?? "unknown");
    return live;
  }
  const onUrl = (all: LiveEndpoint[]) => all.filter((live) => serves(live, inputs));
  const lookUp = api.list.affordsLookup({ isOutdated: api.list.hasWritten });
  if (api.list.hasWritten && !lookUp) {
    // Each adoption that changes something outdates the list, so a thousand of them would read it a thousand times.
    const [first, ...others] = onUrl(await api.list.cloud({ current: false }));
    const live = first && others.length === 0 ? await api.find(first.id) : undefined;
    if (live && serves(live, inputs)) return live;
  }
  const found = onUrl(
    lookUp ? await api.list.onUrl(inputs.url, { fresh: false }) : await api.list.cloud({ current: true }),
  );
  const [first, ...others] = found;
  if (others.length > 0) {
    throw new AdoptAmbiguousError(
      shownUrl(inputs),
      found.map(({ id }) => id),
    );
  }
  return first && (withoutGaps(first, inputs) ?? byId(api, first.id));
}

/**
 * The endpoint as the list shows it, so that a thousand adoptions share one listing. Undefined after the first write, which
 * outdates the listing: from then on each adoption reads its own endpoint. Undefined too if the list omits an input that
 * the program gives, because the omission would count as a change.
 */
async function listed(
  api: EndpointsApi,
  id: string,
  inputs: CloudEndpointInputs,
): Promise<LiveEndpoint | undefined> {
  const item = api.list.hasWritten ? undefined : await api.list.listed(id);
  return item && withoutGaps(item, inputs);
}

async function byId(api: EndpointsApi, id: string): Promise<LiveEndpoint> {
  const live = await api.find(id);
  if (!live) throw new AdoptNotFoundError(id);
  return live;
}

/** The inputs that an adoption must change on the live endpoint. Throws if the scheme differs. */
export function differenceOnAdoption(live: LiveEndpoint, inputs: CloudEndpointInputs) {
  const before = withData(refreshed(live, {}).props);
  const { changed, replace } = difference(before, inputs);
  if (replace)
    throw new AdoptOtherSchemeError(live.id, shownUrl({ ...inputs, url: live.url ?? "" }), shownUrl(inputs));
  return { changed, before };
}

/** The inputs that an adoption sends, and the places that it changes, for a message. */
export function changesOnAdoption(live: LiveEndpoint, inputs: CloudEndpointInputs, owner: Owner | undefined) {
  const { changed, before } = differenceOnAdoption(live, inputs);
  const places = changed
    .flatMap((name) => changesBetween(before[name], inputs[name], [name]))
    .map(({ path }) => shownPlace(path, inputs));
  if (owner === undefined || live.createdFor === undefined) return { sent: changed, places };
  // A new mark tells the other entries with this endpoint, in any process, that it is this resource's now.
  return { sent: [...new Set([...changed, "metadata" as const])], places: [...places, "its mark"] };
}

/** Why the endpoint's metadata cannot be a program's: the mark's key holds something that is no mark. */
export function reservedKey({ metadata }: LiveEndpoint): string | undefined {
  const { data } = metadataFromText(metadata ?? "");
  if (!isMapping(data) || !Object.hasOwn(data, MARK_FIELD)) return undefined;
  return `its metadata has the key ${MARK_FIELD}, which is reserved for marks (endpoints:mark), with something else; rename or remove that key on the service first`;
}

/** Whether this is a cloud endpoint with the program's URL. */
export const serves = (live: LiveEndpoint, inputs: CloudEndpointInputs) =>
  live.type === "cloud" && normalizeUrl(live.url ?? "") === inputs.url;
