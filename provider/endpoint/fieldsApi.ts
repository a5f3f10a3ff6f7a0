import type { HttpClient } from "../service/client";
import { EndpointsApi } from "../service/endpoints";
import { endpointReader } from "../service/replySchemas";
import { endpointFields, fieldAliases } from "./fields";

/** Converts the endpoint of a reply. */
export const endpointFromWire = endpointReader(endpointFields, fieldAliases, { dropsBroken: false });

/** The same for the reply to a create: the endpoint exists, whatever else the reply says of it. */
const createdFromWire = endpointReader(endpointFields, fieldAliases, { dropsBroken: true });

/** The calls of the contract, with the fields of an endpoint. */
export const endpointsApi = (http: HttpClient): EndpointsApi =>
  new EndpointsApi(http, endpointFromWire, createdFromWire);
