import { CloudEndpoint } from "pulumi-endpoints";
import { declaredEndpoints } from "./endpoints";

/** A program that uses this package. */
export function declare(size: number, changed: boolean): void {
  for (const { name, ...args } of declaredEndpoints(size, changed)) new CloudEndpoint(name, args);
}
