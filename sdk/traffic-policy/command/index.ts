/* The commands, for this repository. */

export { checkFiles } from "./check";
export { tryRequest } from "./request";
