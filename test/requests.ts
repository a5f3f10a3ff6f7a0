import type { RecordedRequest } from "../sdk/testing";

/* Views of the requests that a service received, or a run sent. */

interface Received {
  requests: readonly RecordedRequest[];
}

export const methods = ({ requests }: Received) => requests.map(({ method }) => method);
export const paths = ({ requests }: Received) => requests.map(({ method, path }) => `${method} ${path}`);
export const bodies = ({ requests }: Received) => requests.map(({ body }) => body);
export const writes = ({ requests }: Received) => requests.filter(({ method }) => method !== "GET");
