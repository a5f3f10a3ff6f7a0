/**
 * Whether the object has one of these Pulumi types. It may be a resource of another copy of this package. It may also be the
 * object that `@pulumi/policy` passes, which has only the type and is no resource.
 */
export function isOfType(object: unknown, ...types: readonly string[]): boolean {
  if (typeof object !== "object" || object === null || !("__pulumiType" in object)) return false;
  return types.some((type) => type === object.__pulumiType);
}
