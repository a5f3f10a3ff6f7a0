import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./docs";
import { withShortReference } from "./llms";
import { packageSchema } from "./packageSchema";
import { referencePage } from "./page";
import { actionsPage } from "./policyActions";
import { policySchema } from "./policySchema";
import { registryPages } from "./registryPages";

/* Writes all generated files: the plugin's package schema, the policy schema, the reference and its short form. */

const schema = JSON.stringify(packageSchema(), null, 2);
writeFileSync(join(root, "provider", "plugin", "schema.json"), `${schema}\n`);

writeFileSync(join(root, "provider", "policy", "schema.json"), `${JSON.stringify(policySchema())}\n`);
writeFileSync(join(root, "docs", "policy-actions.md"), actionsPage());
for (const [file, text] of registryPages()) writeFileSync(join(root, "docs", file), text);
void referencePage().then((page) => writeFileSync(join(root, "docs", "reference.md"), page));

const forAssistants = join(root, "docs", "llms.md");
void withShortReference(readFileSync(forAssistants, "utf8")).then((page) =>
  writeFileSync(forAssistants, page),
);
