import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./docs";
import { packageSchema } from "./packageSchema";
import { referencePage } from "./page";
import { actionsPage } from "./policyActions";
import { policySchema } from "./policySchema";

/** The generated files by their paths. `npm run generate` writes them, and a test compares them. */
export async function generatedFiles(): Promise<Map<string, string>> {
  return new Map([
    ["provider/plugin/schema.json", `${JSON.stringify(packageSchema(), null, 2)}\n`],
    ["sdk/traffic-policy/schema.json", `${JSON.stringify(policySchema())}\n`],
    ["sdk/traffic-policy/ACTIONS.md", actionsPage()],
    ["docs/reference.md", await referencePage()],
  ]);
}

async function main(): Promise<void> {
  for (const [file, text] of await generatedFiles()) writeFileSync(join(root, file), text);
}

if (require.main === module) void main();
