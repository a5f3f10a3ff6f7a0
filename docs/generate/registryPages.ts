import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root, schemaPage } from "./docs";
import { settingsTable } from "./page";

/** The pages of Pulumi's registry, each with the heading after which everything is generated. */
const PAGES = [
  ["_index.md", "## Example\n", example],
  ["installation-configuration.md", "### Settings\n", settingsTable],
] as const;

/** The names and the texts of the pages that Pulumi's registry shows beside the schema. */
export function registryPages(): [file: string, text: string][] {
  return PAGES.map(([file, heading, generated]) => {
    const page = readFileSync(join(root, "docs", file), "utf8");
    const at = page.indexOf(heading);
    if (at < 0) throw new Error(`docs/${file} has no heading ${heading}`);
    return [file, `${page.slice(0, at)}${heading}\n${generated()}\n`];
  });
}

/** The first example of CloudEndpoint, in the language that the reader chooses. */
function example(): string {
  const [, first = ""] = schemaPage("CloudEndpoint").split("{{% example %}}");
  const blocks = [...first.matchAll(/^```(\w+)\n[\s\S]*?^```$/gm)].map(
    ([block, language]) => `{{% choosable language ${language} %}}\n\n${block}\n{{% /choosable %}}`,
  );
  return ['{{< chooser language "typescript,python,go,yaml" >}}', ...blocks, "{{< /chooser >}}"].join("\n");
}
