import type { RecordedRequest } from "../../../sdk/testing";

/* Creates as the service saw them, and an owner for marks. */

export const url = "https://shop.example.com";
export const isCreate = ({ method }: RecordedRequest) => method === "POST";
export const owner = {
  namespace: "platform-team/prod",
  urn: "urn:pulumi:prod::shop::endpoints:index:CloudEndpoint::front",
};

/** The metadata of a request or an endpoint, as data. */
export const metadataOf = (body: unknown) =>
  JSON.parse(String((body as { metadata?: string }).metadata)) as Record<string, unknown>;
