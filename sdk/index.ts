export type { Ref } from "../provider/schema";
export { CloudEndpoint, type CloudEndpointArgs, type CloudEndpointOutputs } from "./cloudEndpoint";
