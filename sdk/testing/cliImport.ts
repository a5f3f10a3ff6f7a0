import { writeFile } from "node:fs/promises";
import type { ImportFile, ImportSpec } from "./types";

/** One resource is named on the command line, several or one with more to it in the file. */
export async function importArguments(what: ImportSpec[] | ImportFile, file: string): Promise<string[]> {
  if (!Array.isArray(what)) return ["--file", what.file];
  const [only, ...others] = what;
  if (only && others.length === 0 && Object.keys(only).length === 3) return [only.type, only.name, only.id];
  await writeFile(file, JSON.stringify(importFileOf(what)));
  return ["--file", file];
}

/** Parents and providers are names in the file: of what is imported with them, else of what a table has. */
function importFileOf(specs: ImportSpec[]): unknown {
  const table = new Map<string, string>();
  const nameOf = (urn: string): string => {
    const imported = specs.find(({ type, name }) => urn.endsWith(`${type}::${name}`));
    const name = imported?.name ?? `name${table.size}`;
    if (!imported) table.set(name, urn);
    return name;
  };
  const resources = specs.map(({ parent, provider, ...rest }) => ({
    ...rest,
    ...(parent && { parent: nameOf(parent) }),
    ...(provider && { provider: nameOf(provider) }),
  }));
  return { nameTable: Object.fromEntries(table), resources };
}
