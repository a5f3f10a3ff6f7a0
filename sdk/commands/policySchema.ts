import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { command, EXIT } from "./command";

const HELP = `Prints a JSON Schema (draft-07) of traffic policies. Editors use it to complete and check YAML.

Usage: npx pulumi-endpoints policy-schema > policy.schema.json

  --help                this text

The first line of a policy's file then names the schema: # yaml-language-server: $schema=policy.schema.json
Exit codes: 0 done, 1 failed, 2 invalid arguments. See docs/policies.md.`;

/** `npx pulumi-endpoints policy-schema`: the catalogue of policies, for editors. */
export const policySchemaCommand = command({
  name: "policy-schema",
  help: HELP,
  options: {},

  async run(_values, { stdout }) {
    // Found by the package's name, since the compiled command is not in the folder of its source.
    const root = dirname(createRequire(__filename).resolve("pulumi-endpoints/package.json"));
    stdout.write(readFileSync(join(root, "provider", "policy", "schema.json"), "utf8"));
    return EXIT.done;
  },
});
