import type { Emulator } from "../../sdk/testing";

/* Parts of the programs for the tests of drift. */

/** A policy with one action, which may have a secret in its configuration. */
export const policy = (status: number, secret = "") => ({
  on_http_request: [
    { actions: [{ type: "deny", config: { status_code: status, ...(secret && { secret }) } }] },
  ],
});

/** The statement that declares an endpoint. */
export const endpoint = (name: string, more: object = {}, options = "{}", type = "CloudEndpoint") =>
  `new ${type}("${name}", ${JSON.stringify({ url: urlOf(name), trafficPolicy: policy(404), ...more })}, ${options});`;

const urlOf = (name: string) => `https://${name}.example.com`;

/** The id of an endpoint; empty if it does not exist. */
export const idOf = ({ endpoints }: Emulator, name: string) =>
  endpoints.find(({ url }) => url === urlOf(name))?.id ?? "";
