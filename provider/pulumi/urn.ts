/* A URN is `urn:pulumi:STACK::PROJECT::TYPES::NAME`, in which the types of the components around the resource come first, with `$`. */

/** The parts of a URN. A name may contain `::`. */
export function partsOfUrn(urn: string): { stack: string; project: string; type: string; name: string } {
  const [start = "", project = "", types = "", ...name] = urn.split("::");
  const stack = start.replace("urn:pulumi:", "");
  return { stack, project, type: types.split("$").at(-1) ?? "", name: name.join("::") };
}

/** Whether the engine has created the provider with this name: `default`, or `default_1_2_3` for a version of the package. */
export const isDefaultProvider = (name: string): boolean => /^default(_\d+_\d+_\d+.*)?$/.test(name);
