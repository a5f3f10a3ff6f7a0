import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../provider/plugin/schema/docs";
import { referencePage } from "./page";

writeFileSync(join(root, "docs", "reference.md"), referencePage());
