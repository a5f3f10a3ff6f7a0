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

/**
 * The stacks of a list that were not read. A name is the full name, or the name that Pulumi has in the project's folder. A name that
 * may mean several stacks of the list means the stack with exactly this name, or else proves none of them to be read.
 */
export function unreadStacks(all: readonly string[], read: readonly string[], project: string): string[] {
  const names = all.map((name) => ({ name, fullName: withProject(name, project) }));
  const covered = read.map((one) => {
    const mayMean = names.filter(({ fullName }) => isSuffixOf(fullName, one) || isSuffixOf(one, fullName));
    return (
      mayMean.find(({ fullName }) => fullName === one) ?? (mayMean.length === 1 ? mayMean[0] : undefined)
    );
  });
  return names.filter((each) => !covered.includes(each)).map(({ name }) => name);
}

/** What to do about unread stacks, which may manage an endpoint. @param unread Undefined if Pulumi does not list the stacks. */
export function unreadText(unread: readonly string[] | undefined): string {
  if (!unread) return "Name the stacks of `pulumi stack ls --all` with --known or --projects";
  if (unread.length === 0) return "This backend has no other stack, but another backend may have one";
  const more = unread.length - MAX_SHOWN;
  const names = `${unread.slice(0, MAX_SHOWN).join(", ")}${more > 0 ? `, and ${more} more` : ""}`;
  return `Name the backend's other stacks with --known or --projects: ${names}`;
}
