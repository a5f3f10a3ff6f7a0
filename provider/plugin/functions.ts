import { CheckFailure, type InvokeRequest, InvokeResponse } from "@pulumi/pulumi/proto/provider_pb";
import { z } from "zod";
import type { EndpointsApi } from "../api/endpoints";
import type { JsonObject } from "../api/json";
import { unknownToken } from "../endpoint/errors";
import { endpointQuery, endpointsFilter, findEndpoint, findEndpoints } from "../endpoint/lookup";
import { received, toStruct } from "./values";

/** @param secretUrls The URLs that no message may contain. */
type DataSource = (
  api: EndpointsApi,
  args: JsonObject,
  secretUrls?: ReadonlySet<unknown>,
) => Promise<JsonObject>;

/** The data sources. A call may have to show what an earlier call created, so it never joins a reading that has begun. */
export const functions: Record<string, DataSource> = {
  /** Reads one endpoint of any type by id or URL, in a preview too. */
  "endpoints:index:getEndpoint": (api, args, secretUrls) =>
    findEndpoint(api, z.strictObject(endpointQuery).parse(args), { fresh: true }, secretUrls),
  /** Reads all endpoints of the account, of any type, that match the filters, in a preview too. */
  "endpoints:index:getEndpoints": async (api, args) => {
    const endpoints = await findEndpoints(api, z.strictObject(endpointsFilter).parse(args), { fresh: true });
    return { endpoints, ids: endpoints.map(({ id }) => id) };
  },
};

/** Calls a data source. Returns invalid arguments as failures of the call, and throws every other error. */
export async function invoke(
  request: InvokeRequest,
  api: () => EndpointsApi,
  secretUrls: ReadonlySet<unknown>,
): Promise<InvokeResponse> {
  const call = functions[request.getTok()];
  if (!call) throw unknownToken(request.getTok(), Object.keys(functions));
  const given = Object.entries(received(request.getArgs()).props).filter(([, value]) => value !== null);
  const response = new InvokeResponse();
  try {
    response.setReturn(toStruct(await call(api(), Object.fromEntries(given), secretUrls)));
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    for (const issue of error.issues) {
      const failure = new CheckFailure();
      failure.setProperty(issue.path.join("."));
      failure.setReason(issue.message);
      response.addFailures(failure);
    }
  }
  return response;
}
