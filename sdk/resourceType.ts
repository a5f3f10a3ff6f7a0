/**
 * Whether the object has one of these Pulumi types: a resource, possibly of another copy of this package, or what a policy
 * pack asks with. (`@pulumi/policy` gives an object that has nothing but the type; that it is no resource must not count.)
 */
export function isOfType(object: unknown, ...types: readonly string[]): boolean {
  if (typeof object !== "object" || object === null || !("__pulumiType" in object)) return false;
  return types.some((type) => type === object.__pulumiType);
}
