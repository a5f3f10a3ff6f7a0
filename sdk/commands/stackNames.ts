/*
 * A stack of the project `api` is `dev`, `api/dev`, `organization/dev` or `organization/api/dev`. With its project, a name means
 * every stack whose full name ends with it. Pulumi would take `api/dev` for a stack of the organization `api`.
 */

/** The name with its project: `api/dev`, or `organization/api/dev` if the organization was given. */
export function withProject(stack: string, project: string): string {
  const [first = "", second, third] = stack.split("/");
  if (third !== undefined || (second !== undefined && first === project)) return stack;
  return second === undefined ? `${project}/${first}` : `${first}/${project}/${second}`;
}

/** The name as Pulumi takes it in the project's folder. */
export const forPulumi = (stack: string, project: string): string =>
  stack === `${project}/${lastOf(stack)}` ? lastOf(stack) : stack;

export const lastOf = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

export const isEndOf = (fullName: string, name: string) => `/${fullName}`.endsWith(`/${name}`);
