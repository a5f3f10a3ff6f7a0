import type { JsonObject } from "../../sdk/traffic-policy/data/index";
import { isService404, type UserError } from "../service/apiErrors";
import type { Endpoint } from "../service/contract";
import type { EndpointsApi } from "../service/endpoints";
import { documentsAsData, fieldNames, isSatisfied, type ManagedInput, managedInputs } from "./fields";

/* How a live endpoint is read: as the list shows it, so that many resources share a listing, or else by its id. */

/**
 * The endpoint with this id, of any type.
 *
 * @param known If the list item lacks one of these properties, the endpoint is read by id: the list may omit the field, or it was
 *   cleared.
 * @throws ApiError if it is not found.
 */
export async function readEndpoint(api: EndpointsApi, id: string, known: JsonObject): Promise<Endpoint> {
  const item = await api.list.findInList(id);
  const live = item && !mayHideEdit(api, item, known) ? completedItem(item, known) : undefined;
  return live ?? api.get(id);
}

/**
 * Whether a list item may lack a value that somebody has added: the endpoint was changed since the state was written, the item does not
 * show how, and the list shows the field of no other endpoint.
 */
function mayHideEdit(api: EndpointsApi, item: Endpoint, known: JsonObject): boolean {
  if (item.updatedAt !== undefined && item.updatedAt === known["updatedAt"]) return false;
  const [live, stored] = [documentsAsData({ ...item }), documentsAsData(known)];
  if (managedInputs.some((name) => !isSatisfied(name, live[name], stored[name]))) return false;
  return managedInputs.some((name) => item[name] === undefined && !api.list.shows(name));
}

/**
 * An endpoint of which no state is known, of any type.
 *
 * @param inputs If the list item lacks one of these inputs, the endpoint has no value, or lists omit the field. If the list shows
 *   the field of no other endpoint either, the endpoint is read by id.
 * @throws ApiError if it is not found.
 */
export async function readUnknownEndpoint(
  api: EndpointsApi,
  id: string,
  inputs: readonly ManagedInput[],
): Promise<Endpoint> {
  const item = await api.list.findInList(id);
  const isOmitted = (name: ManagedInput) => item?.[name] === undefined && !api.list.shows(name);
  return item && !inputs.some(isOmitted) ? item : api.get(id);
}

/**
 * A list item, completed with the stored values of outputs that the service only returns by id. Undefined if the item lacks an
 * input, which may have been cleared.
 */
function completedItem(item: Endpoint, stored: JsonObject): Endpoint | undefined {
  const gaps = fieldNames.filter((name) => item[name] === undefined && name in stored);
  if (gaps.some((name) => managedInputs.some((input) => input === name))) return undefined;
  return { ...item, ...Object.fromEntries(gaps.map((name) => [name, stored[name]])) };
}

/** For `catch`: another error in place of the service's own 404. */
export const ifService404 =
  (instead: UserError) =>
  (error: unknown): never => {
    throw isService404(error) ? instead : error;
  };
