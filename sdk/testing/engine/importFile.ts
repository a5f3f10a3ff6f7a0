import { readFileSync } from "node:fs";
import { z } from "zod";
import type { ImportSpec } from "../types";

/** The file that `pulumi import --file` reads, as far as this engine takes it. */
const importFile = z.strictObject({
  nameTable: z.record(z.string(), z.string()).default({}),
  resources: z.array(
    z.strictObject({
      type: z.string(),
      name: z.string(),
      id: z.string(),
      parent: z.string().optional(),
      provider: z.string().optional(),
      version: z.string().optional(),
      pluginDownloadUrl: z.string().optional(),
      properties: z.array(z.string()).optional(),
    }),
  ),
});

/** Parents and providers are names in the file; the table tells whose. As `parseImportFile`. */
export function readImportFile(file: string): ImportSpec[] {
  const parsed = importFile.safeParse(JSON.parse(readFileSync(file, "utf8")));
  if (!parsed.success)
    throw new Error(
      `the test engine does not support the import file ${file}:\n${z.prettifyError(parsed.error)}`,
    );
  const { nameTable, resources } = parsed.data;
  const urn = (name: string): string => {
    const found = nameTable[name];
    if (found === undefined) throw new Error(`the import file ${file} has no name ${name} in its nameTable`);
    return found;
  };
  return resources.map(({ parent, provider, ...rest }) => ({
    ...withoutUndefined(rest),
    ...(parent !== undefined && { parent: urn(parent) }),
    ...(provider !== undefined && { provider: urn(provider) }),
  }));
}

function withoutUndefined(spec: z.infer<typeof importFile>["resources"][number]): ImportSpec {
  const { type, name, id, version, pluginDownloadUrl, properties } = spec;
  return {
    type,
    name,
    id,
    ...(version !== undefined && { version }),
    ...(pluginDownloadUrl !== undefined && { pluginDownloadUrl }),
    ...(properties !== undefined && { properties }),
  };
}
