import type { LiveEndpoint } from "./api/items";
import { plain, UserError } from "./userError";

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

  otherService: (id: string, made: string, configured: string) =>
    new RefusedError(
      `${id} was made at ${made}, but the configured service is ${configured}, which does not know it. Set endpoints:baseUrl (or ENDPOINTS_BASE_URL) to the service that made it; if it is really gone, remove the resource with \`pulumi state delete\`.`,
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

  urlTaken: (conflict: Error, { id, createdAt, description }: LiveEndpoint, same: boolean) => {
    const since = createdAt === undefined ? "" : `, made at ${createdAt}`;
    const what = same
      ? "with exactly this content, as a run that was killed leaves it behind"
      : `with other content${description ? ` (“${plain(description, 100)}”)` : ""}`;
    const remedy = same
      ? `set adopt: "${id}" on this resource for one \`pulumi up\`, or set endpoints:recoverWithin to take such endpoints over without asking`
      : `set adopt: "${id}" if it is to become this resource; otherwise choose another url, or delete it`;
    return new RefusedError(`${conflict.message} It is ${id}${since}, ${what}: ${remedy}.`, {
      cause: conflict,
    });
  },

  createDoubtful: (lost: string, url: string, ids: string[]) =>
    new RefusedError(
      `${lost} It may be one of these, which serve ${url} and which no resource of this run has: ${plain(ids.join(", "))}. See which of them is not in any stack; set adopt to its id, or delete it, and run the command again.`,
    ),

  createUnsettled: (lost: string, why: string, url: string, pooled: boolean) => {
    const next = pooled
      ? `Before the next run see whether ${url} has an endpoint that is in no stack; set adopt to its id, or delete it`
      : "Run the command again when the service answers: where the endpoint is there, it says which one it is";
    return new RefusedError(`${lost} Whether it was could not be seen either (${why}). ${next}.`);
  },

  deleteOfAdopted: (id: string) =>
    new RefusedError(
      `${id} was taken over by its own replacement in this run, so it was not deleted. Remove the old entry (marked "delete": true) with \`pulumi stack export\` and \`pulumi stack import\` before the next run, and leave deleteBeforeReplace as it is.`,
    ),
};
