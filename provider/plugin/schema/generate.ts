import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./docs";
import { packageSchema } from "./packageSchema";

/** Where the package schema lies, beside the plugin that serves it. */
const SCHEMA_FILE = join(root, "provider", "plugin", "schema.json");

writeFileSync(SCHEMA_FILE, `${JSON.stringify(packageSchema(), null, 2)}\n`);
