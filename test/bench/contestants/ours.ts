import { CloudEndpoint } from "pulumi-endpoints";
import { declaredEndpoints } from "./endpoints";

/** The program of a user of this package. */
export function declare(size: number, changed: boolean): void {
  for (const { name, ...args } of declaredEndpoints(size, changed)) new CloudEndpoint(name, args);
}
