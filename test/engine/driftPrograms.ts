import type { Emulator } from "../../sdk/testing";

/* What the programs of the tests of drift consist of. */

/** A policy of one action, with a secret in its configuration on demand. */
export const policy = (status: number, secret = "") => ({
  on_http_request: [
    { actions: [{ type: "deny", config: { status_code: status, ...(secret && { secret }) } }] },
  ],
});

/** The statement that declares an endpoint. */
export const endpoint = (name: string, more: object = {}, options = "{}", type = "CloudEndpoint") =>
  `new ${type}("${name}", ${JSON.stringify({ url: urlOf(name), trafficPolicy: policy(404), ...more })}, ${options});`;

const urlOf = (name: string) => `https://${name}.example.com`;

/** Empty where there is none. */
export const idOf = ({ endpoints }: Emulator, name: string) =>
  endpoints.find(({ url }) => url === urlOf(name))?.id ?? "";
