/* Requests to endpoints, for this repository. */

export { fetchReply } from "./routing";
export { serveRequest } from "./serve";
