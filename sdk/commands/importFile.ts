import { parseArgs } from "node:util";
import type { LiveEndpoint } from "../../provider/api/items";
import { metadataFromText, policyFromText } from "../../provider/document";
import { secretPlaces } from "../../provider/secrets";
import { TYPES } from "../../provider/tokens";
import { CHOICE_HELP, type ChoiceOptions, choiceOptions, choose, readChoice } from "./choice";
import { assertWritable, type Command, count, runCommand, tell, UsageError, writeResult } from "./command";
import { namesOf, slug } from "./names";

const HELP = `Lists the account's cloud endpoints, and writes the JSON that \`pulumi import --file\` takes.

Usage: npx pulumi-endpoints import-file [options]

${CHOICE_HELP}
  --provider URN        import with this explicit provider of the stack, pulumi:providers:endpoints
  --help                this text

Without --stack the account is the one of ENDPOINTS_API_KEY and ENDPOINTS_BASE_URL. The import needs the plugin in
the project (docs/plugin.md). Exit codes: 0 done, 1 failed, 2 arguments that make no sense, 3 the key was refused.`;

const PROVIDER_URN = /^urn:pulumi:[^:]+::[^:]+::(?:.*\$)?pulumi:providers:endpoints::(.+)$/;

interface ImportFileOptions extends ChoiceOptions {
  /** URN of an explicit provider. */
  provider: string | undefined;
}

/** `npx pulumi-endpoints import-file`: what `pulumi import --file` needs to take over a whole account. */
export function importFileCommand(args: string[]): Promise<number> {
  return runCommand(command, args);
}

const command: Command<ImportFileOptions> = {
  name: "import-file",
  help: HELP,

  read(args) {
    const options = { ...choiceOptions, provider: { type: "string" } } as const;
    const { values } = parseArgs({ args, options });
    const { provider } = values;
    if (provider !== undefined && !PROVIDER_URN.test(provider)) {
      throw new UsageError(
        "--provider takes the URN of a pulumi:providers:endpoints, as `pulumi stack --show-urns` lists it",
      );
    }
    return { ...readChoice(values), provider };
  },

  async run(options) {
    assertWritable(options.out);
    const { endpoints, target, isTaken } = await choose(options);
    const names = namesOf(endpoints, isTaken);
    const file = importFileOf(endpoints, names, options.provider);
    writeResult(options.out, `${JSON.stringify(file, undefined, 2)}\n`);

    const where = options.out.file;
    tell(
      `Taken: ${count(endpoints.length, "endpoint")}${where === undefined ? "" : `, written to ${where}`}`,
    );
    if (endpoints.length === 0) return;
    const withSecrets = endpoints.filter(holdsSecrets).length;
    if (withSecrets > 0) {
      const whose = withSecrets === 1 ? "1 of them holds" : `${withSecrets} of them hold`;
      tell(
        `${whose} secrets, which the code that pulumi import prints shows in plain: --generate-code=false prints none, and \`npx pulumi-endpoints adopt\` writes code without them`,
      );
    }
    const stack = target ? ` --stack ${target.stack}` : "";
    tell(`Next: pulumi import --file ${where ?? "FILE"}${stack}`);
  },
};

/** The file as `pulumi import --file` reads it. Its names are its resources' and those of its table, all different. */
export function importFileOf(
  endpoints: readonly LiveEndpoint[],
  names: ReadonlyMap<string, string>,
  provider: string | undefined,
): object {
  const given = new Set(names.values());
  const label = provider === undefined ? undefined : labelOf(provider, (name) => given.has(name));
  const resources = endpoints.map(({ id }) => ({
    type: TYPES.plugin,
    name: names.get(id) ?? slug(id),
    id,
    ...(label !== undefined && { provider: label }),
  }));
  return { ...(label !== undefined && { nameTable: { [label]: provider } }), resources };
}

function labelOf(urn: string, isTaken: (name: string) => boolean): string {
  let label = PROVIDER_URN.exec(urn)?.[1] ?? "provider";
  while (isTaken(label)) label = `${label}-provider`;
  return label;
}

function holdsSecrets({ trafficPolicy, metadata }: LiveEndpoint): boolean {
  const policy = policyFromText(trafficPolicy ?? "");
  const places = secretPlaces(["data" in policy && policy.data, metadataFromText(metadata ?? "").data]);
  return places.some(({ secret }) => secret !== "");
}
