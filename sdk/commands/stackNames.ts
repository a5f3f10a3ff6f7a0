/*
 * Names of stacks. A stack of the project `api` can be called `dev`, `api/dev`, `organization/dev` or `organization/api/dev`. A name
 * with its project means every stack whose full name ends with it. Pulumi would take `api/dev` for a stack of the organization `api`.
 */

/** The name with its project: `api/dev`, or `organization/api/dev` if the organization was given. */
export function withProject(stack: string, project: string): string {
  const [first = "", second, third] = stack.split("/");
  if (third !== undefined || (second !== undefined && first === project)) return stack;
  return second === undefined ? `${project}/${first}` : `${first}/${project}/${second}`;
}

/** The name in reports and messages. Without Pulumi Cloud, every stack belongs to an organization with the name `organization`. */
export const shownName = (fullName: string): string => fullName.replace(/^organization\//, "");

/** The name as Pulumi takes it in the project's folder. */
export const forPulumi = (stack: string, project: string): string =>
  stack === `${project}/${lastPartOf(stack)}` ? lastPartOf(stack) : stack;

export const lastPartOf = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

export const isSuffixOf = (fullName: string, name: string) => `/${fullName}`.endsWith(`/${name}`);

/** The most stacks in a message. */
export const MAX_SHOWN = 10;
