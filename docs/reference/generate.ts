import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../provider/plugin/schema/docs";
import { packageSchema } from "../../provider/plugin/schema/packageSchema";
import { referencePage } from "./page";

/* Writes everything that is generated from the source: the plugin's package schema and the reference. */

const schema = JSON.stringify(packageSchema(), null, 2);
writeFileSync(join(root, "provider", "plugin", "schema.json"), `${schema}\n`);
writeFileSync(join(root, "docs", "reference.md"), referencePage());
