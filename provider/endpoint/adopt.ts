import type { LiveEndpoint } from "../api/contract";
import type { EndpointsApi } from "../api/endpoints";
import { isMapping } from "../api/json";
import { MARK_FIELD } from "../api/mark";
import { normalizeUrl } from "../api/url";
import { changesBetween, metadataFromText } from "./documents";
import { adoptAmbiguous, adoptNotFound, adoptOtherScheme, wrongType } from "./errors";
import { documentsAsData, type Inputs, type ManagedInput } from "./fields";
import { LIST_LAG } from "./gone";
import { ifAbsent, look } from "./live";
import { shownPlace, shownUrl } from "./secrets";
import { difference, refreshedFromLive } from "./state";

/* The live endpoint that a new resource takes over (`adopt`), and what the takeover changes. */

/** The oldest list in which an endpoint with a URL is looked for, in milliseconds. A conflict finds what is newer. */
const OLDEST = 300_000;

/** The live endpoint that `adopt` names; undefined if no cloud endpoint has the URL. */
export async function findAdoptable(api: EndpointsApi, inputs: Inputs): Promise<LiveEndpoint | undefined> {
  if (typeof inputs.adopt === "string") {
    const live = await look(api, inputs.adopt, inputs).catch(ifAbsent(adoptNotFound(inputs.adopt)));
    if (live.type !== "cloud") throw wrongType(live.id, live.type ?? "unknown");
    return live;
  }
  const now = api.http.clock.now();
  let found = (await api.list.onUrl(inputs.url, now - OLDEST)).filter((live) => serves(live, inputs));
  if (inputs.poolingEnabled && found.length === 0) {
    // A filter proves no absence, and the service would accept one more member.
    const reading = api.list.whole(now - LIST_LAG);
    await reading.toEnd();
    found = [...reading.endpoints.values()].filter((live) => serves(live, inputs));
  }
  const [first, ...others] = found;
  // A list may lag, so the only member of a pool that it shows may be another stack's.
  if (others.length > 0 || first?.poolingEnabled) {
    const ids = found.map(({ id }) => id);
    throw adoptAmbiguous(shownUrl(inputs), ids);
  }
  // The list may be out of date, and may omit metadata, which holds the mark of another stack.
  const live = first && (await api.find(first.id));
  return live && serves(live, inputs) ? live : undefined;
}

interface Takeover {
  /** The inputs to send. */
  sent: ManagedInput[];
  /** The places that change, for a message. */
  places: string[];
}

/** @throws UserError if the endpoint has another scheme than the program's URL, which cannot change in place. */
export function takeoverOf(live: LiveEndpoint, inputs: Inputs): Takeover {
  const { changed, before } = differenceOnAdoption(live, inputs);
  const places = changed
    .flatMap((name) => changesBetween(before[name], inputs[name], [name]))
    .map(({ path }) => shownPlace(path, inputs));
  if (live.createdFor === undefined) return { sent: changed, places };
  // A new mark tells the other entries with this endpoint, in any process, that it is this resource's now. A stack without
  // marks removes the old one, which would name the wrong owner.
  return { sent: [...new Set([...changed, "metadata" as const])], places: [...places, "its mark"] };
}

export function differenceOnAdoption(live: LiveEndpoint, inputs: Inputs) {
  const before = documentsAsData(refreshedFromLive(live, {}).props);
  const { changed, replace } = difference(before, inputs);
  if (replace)
    throw adoptOtherScheme(live.id, shownUrl({ ...inputs, url: live.url ?? "" }), shownUrl(inputs));
  return { changed, before };
}

/** Whether this is a cloud endpoint with exactly these inputs. */
export const isWanted = (live: LiveEndpoint, inputs: Inputs): boolean =>
  serves(live, inputs) && differenceOnAdoption(live, inputs).changed.length === 0;

/** Whether this is a cloud endpoint with the program's URL. */
const serves = (live: LiveEndpoint, inputs: Inputs): boolean =>
  live.type === "cloud" && normalizeUrl(live.url ?? "") === inputs.url;

/** Why the endpoint's metadata cannot be a program's: the mark's key holds something that is no mark. */
export function reservedKeyProblem({ metadata }: LiveEndpoint): string | undefined {
  const { data } = metadataFromText(metadata ?? "");
  if (!isMapping(data) || !Object.hasOwn(data, MARK_FIELD)) return undefined;
  return `its metadata has the key ${MARK_FIELD}, which is reserved for marks (endpoints:mark), with something else; rename or remove that key on the service first`;
}
