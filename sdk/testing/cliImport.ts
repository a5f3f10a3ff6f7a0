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

/** Parents and providers are names in the file, each in a table with its URN. */
function importFileOf(specs: ImportSpec[]): unknown {
  const urns = [...new Set(specs.flatMap(({ parent, provider }) => [parent, provider]))].filter(
    (urn) => urn !== undefined,
  );
  const name = (urn: string) => `name${urns.indexOf(urn)}`;
  return {
    nameTable: Object.fromEntries(urns.map((urn) => [name(urn), urn])),
    resources: specs.map(({ parent, provider, ...rest }) => ({
      ...rest,
      ...(parent && { parent: name(parent) }),
      ...(provider && { provider: name(provider) }),
    })),
  };
}
