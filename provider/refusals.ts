import type { EndpointsError } from "./api/apiErrors";
import type { LiveEndpoint } from "./api/items";
import { ownerText } from "./api/mark";
import { plain, UserError } from "./api/userError";

/** Something that the provider will not do, because it would harm what it must not; with the way on. */
export class RefusedError extends UserError {
  override readonly name = "RefusedError";
}

export const refusals = {
  wrongType: (id: string, type: string) =>
    new RefusedError(
      `${id} is of type ${plain(type, 100)}; CloudEndpoint manages cloud endpoints only. Read it with getEndpoint, or give the id of a cloud endpoint.`,
    ),

  notOurs: (token: string, known: string[]) =>
    new RefusedError(`There is no ${plain(token, 200)} in this package; it has ${known.join(" and ")}.`),

  goneUnproven: (id: string, notFound: EndpointsError, why: EndpointsError) =>
    new RefusedError(
      `The service says that there is no ${id}, but its list, which would prove it, cannot be read (${plain(why.summary, 1000)}). Check endpoints:baseUrl (or ENDPOINTS_BASE_URL), with its path prefix, and use a key that may list endpoints. If the endpoint is really gone, remove the resource with \`pulumi state delete\`.`,
      { cause: notFound },
    ),

  stillListed: (id: string, notFound: EndpointsError) =>
    new RefusedError(
      `${notFound.summary}; but the list of the account still holds ${id}, so it is not taken for gone. Check what answers between here and the service (endpoints:baseUrl or ENDPOINTS_BASE_URL, HTTPS_PROXY), then run the command again.`,
      { cause: notFound },
    ),

  otherAccount: (id: string, listed: number, baseUrl: string) =>
    new RefusedError(
      `The account that this key has at ${baseUrl} does not know ${id}, and it may be another account than the one with this stack's endpoints: the state was written with another key or base URL, and none of the ${listed} endpoints listed there is known to be this stack's. Use a key of the right account (endpoints:apiKey or ENDPOINTS_API_KEY). If this is the right one, or the endpoints of the other one are to be given up, run the command once with ENDPOINTS_ACCEPT_ACCOUNT=1.`,
    ),

  nothingToUpdate: (id: string, notFound: EndpointsError) =>
    new RefusedError(
      `${notFound.summary}. There is no endpoint ${id} any more, or the service is not the one that has it: run \`pulumi refresh\`, which tells, and then the command again.`,
      { cause: notFound },
    ),

  alreadyManaged: (id: string) =>
    new RefusedError(
      `${id} belongs to another resource of this stack already; an endpoint can be one resource's only. Take adopt out, or give the id of another endpoint.`,
    ),

  nothingToGet: (id: string) =>
    new RefusedError(
      `There is no endpoint ${id}. Correct the id, or create the endpoint with CloudEndpoint.`,
    ),

  adoptedIdGone: (id: string) =>
    new RefusedError(
      `There is no endpoint ${id} to adopt. Correct the id, or take adopt out to create a new endpoint.`,
    ),

  adoptAmbiguous: (url: string, ids: string[]) =>
    new RefusedError(
      `Several cloud endpoints serve ${url}: ${plain(ids.join(", "))}. Set adopt to the id of the one to take over.`,
    ),

  adoptOtherScheme: (id: string, live: string, wanted: string) =>
    new RefusedError(
      `${id} serves ${plain(live, 300)}, and the scheme of an endpoint cannot change to that of ${wanted}. Adopt an endpoint with the same scheme, or take adopt out to create a new one.`,
    ),

  urlTaken: (
    conflict: EndpointsError,
    url: string,
    { id, type, createdAt, description, createdFor }: LiveEndpoint,
    { isSame, isKnown }: { isSame: boolean; isKnown: boolean },
  ) => {
    const what = [
      type === "cloud" ? "a cloud endpoint" : `an endpoint of type ${plain(type ?? "unknown", 100)}`,
      createdAt === undefined ? "" : `created at ${plain(createdAt, 100)}`,
      createdFor ? `created for ${ownerText(createdFor)}` : "",
      description && !isSame ? `described as “${plain(description, 100)}”` : "",
      isSame ? "with exactly this content, as a run that was killed leaves it behind" : "",
    ];
    const free = "choose another url, or delete it";
    const remedy = isKnown
      ? `it belongs to another resource of this stack: give each its own url, or set poolingEnabled on both`
      : type !== "cloud"
        ? `choose another url, or stop what serves it`
        : isSame
          ? `set adopt: "${id}" on this resource for one \`pulumi up\`, or set endpoints:recoverWithin to take such endpoints over without asking`
          : `set adopt: "${id}" if it is to become this resource; otherwise ${free}`;
    return new RefusedError(
      `${conflict.summary}. ${url} is served by ${id}, ${what.filter(Boolean).join(", ")}: ${remedy}.`,
      { cause: conflict },
    );
  },

  createRefused: (conflict: EndpointsError, why: EndpointsError, url: string) =>
    new RefusedError(
      `${conflict.summary}. Whether another endpoint has ${url} could not be seen (${plain(why.summary, 1000)}). Run the command again; if another endpoint has the URL, set adopt to take it over, or choose another url.`,
      { cause: conflict },
    ),

  createDoubtful: (lost: EndpointsError, url: string, ids: string[]) =>
    new RefusedError(
      ids.length > 0
        ? `${lost.summary}. It may be one of these, which serve ${url} and which no resource of this run has: ${plain(ids.join(", "))}. See which of them is not in any stack; set adopt to its id, or delete it, and run the command again.`
        : `${lost.summary}. The list does not show it, but in a pool one more would not be noticed: see whether ${url} has an endpoint that is in no stack, set adopt to its id, or run the command again if it has none. With endpoints:mark this is found out without asking.`,
      { cause: lost },
    ),

  createUnsettled: (lost: EndpointsError, why: EndpointsError, url: string) =>
    new RefusedError(
      `${lost.summary}. Whether the endpoint was created could not be seen either (${plain(why.summary, 1000)}). Check that endpoints:baseUrl (or ENDPOINTS_BASE_URL) names the service's API. Before the next run see whether ${url} has an endpoint that is in no stack; set adopt to its id, or run the command again if it has none.`,
      { cause: lost },
    ),

  severalLeftovers: (url: string, ids: string[]) =>
    new RefusedError(
      `${plain(ids.join(", "))} carry the mark of this resource, and no resource of this run has them. Set adopt to the one that is to become ${url}, delete the others, and run the command again.`,
    ),

  deleteOfAdopted: (id: string) =>
    new RefusedError(
      `${id} was taken over by its own replacement in this run, so it was not deleted. Remove the old entry (marked "delete": true) with \`pulumi stack export\` and \`pulumi stack import\` before the next run, and leave deleteBeforeReplace as it is.`,
    ),
};
