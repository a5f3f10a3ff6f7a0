import { MARK_FIELD } from "../../../provider/api/mark";
import type { RecordedRequest, ScriptedReply } from "../../../sdk/testing";
import { service } from "../service";

/* Shared by the tests of creates: lost replies, taken URLs and marks. */

export const url = "https://shop.example.com";
export const isCreate = ({ method }: RecordedRequest) => method === "POST";
export const isList = ({ method, path }: RecordedRequest) => method === "GET" && path === "/endpoints";
export const countCreates = (requests: readonly RecordedRequest[]) => requests.filter(isCreate).length;

/** The reply of the public service to a create whose URL is taken. */
export const conflict: ScriptedReply = {
  status: 400,
  body: { error_code: "ERR_NGROK_18017", msg: "pooling was set to disabled when another endpoint exists" },
};

/** A time as the service writes it: without fractions of a second. */
export const iso = (time: number) => new Date(time).toISOString().replace(/\.\d+Z$/, "Z");

/** The service and a core with a request timeout of 0.2 seconds. */
export const start = (settings: Record<string, string> = {}, options: Parameters<typeof service>[0] = {}) =>
  service({ ...options, settings: { "endpoints:timeoutSeconds": "0.2", ...settings } });

/** The owner in the marks of `URN`'s resource if `endpoints:mark` is `marking`. */
export const URN = "urn:pulumi:prod::shop::endpoints:index:CloudEndpoint::front";
export const marking = "platform-team/prod";
export const owner = { namespace: marking, urn: URN };

const CREATED = "2020-01-01T00:00:00Z";

/** Metadata with a mark, by default that of `URN`'s resource, and the creation time that it was made for. */
export const marked = (mark: object, metadata: object = {}) => ({
  created_at: CREATED,
  metadata: JSON.stringify({
    ...metadata,
    [MARK_FIELD]: { ...owner, nonce: "0011", time: CREATED, ...mark },
  }),
});

/** The metadata of a request or an endpoint, as data. */
export const metadataOf = (body: unknown) =>
  JSON.parse(String((body as { metadata?: string }).metadata)) as Record<string, unknown>;
