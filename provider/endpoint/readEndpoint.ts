import type { JsonObject } from "../data/index";
import { isService404, type UserError } from "../service/apiErrors";
import type { Endpoint } from "../service/contract";
import type { EndpointsApi } from "../service/endpoints";
import { endpointNotFound, wrongType } from "./errors";
import { fieldNames, managedInputs } from "./fields";
import { undefinedIfGone } from "./gone";

/* How a live endpoint is read: as the list shows it, so that many resources share a listing, or else by its id. */

/**
 * The endpoint with this id, of any type.
 *
 * @param state If the list item lacks an input of these properties, the endpoint is read by id: the input may have been cleared.
 *   An output that the item lacks keeps its stored value, because the service returns some only by id.
 * @throws ApiError if it is not found.
 */
export async function readEndpoint(api: EndpointsApi, id: string, state: JsonObject): Promise<Endpoint> {
  const item = await api.list.findInList(id);
  if (!item) return api.get(id);
  const gaps = fieldNames.filter((name) => item[name] === undefined && name in state);
  if (gaps.some((name) => managedInputs.some((input) => input === name))) return api.get(id);
  return { ...item, ...Object.fromEntries(gaps.map((name) => [name, state[name]])) };
}

/**
 * The cloud endpoint of a state's entry, as a refresh reads it; undefined if it is gone.
 *
 * @throws UserError if it is no cloud endpoint, or if the service does not find it, and nothing proves that it is gone.
 */
export async function readManaged(
  api: EndpointsApi,
  id: string,
  state: JsonObject,
): Promise<Endpoint | undefined> {
  const live = await undefinedIfGone(readEndpoint(api, id, state), api, id, state);
  if (live) assertCloud(live);
  return live;
}

/** The cloud endpoint that an import or `get` names. @throws UserError if there is none with this id. */
export async function readNamed(reading: Promise<Endpoint>, id: string): Promise<Endpoint> {
  const live = await reading.catch(ifService404(endpointNotFound(id)));
  assertCloud(live);
  return live;
}

function assertCloud({ id, type }: Endpoint): void {
  if (type !== undefined && type !== "cloud") throw wrongType(id, type);
}

/** For `catch`: another error in place of the service's own 404. */
export const ifService404 =
  (instead: UserError) =>
  (error: unknown): never => {
    throw isService404(error) ? instead : error;
  };
