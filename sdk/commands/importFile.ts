import { plain } from "../../provider/api/apiErrors";
import type { LiveEndpoint } from "../../provider/api/contract";
import { metadataFromText, policyFromText } from "../../provider/document";
import { secretPlaces } from "../../provider/secrets";
import { TYPES } from "../../provider/tokens";
import { adoptionOf } from "./adopt/adoptable";
import {
  assertWritable,
  type Command,
  count,
  EXIT,
  log,
  parseOptions,
  runCommand,
  UsageError,
  writeResult,
} from "./command";
import { namesOf, slug } from "./names";
import { SELECTION_HELP, selectEndpoints, selectionOf, selectionOptions } from "./selection";

const HELP = `Lists the account's cloud endpoints, and writes the JSON that \`pulumi import --file\` takes.

Usage: npx pulumi-endpoints import-file [options]

${SELECTION_HELP}
  --provider URN        import with this explicit provider of the stack, pulumi:providers:endpoints
  --help                this text

Without --stack the account is that of ENDPOINTS_API_KEY and ENDPOINTS_BASE_URL. The import needs the plugin in
the project (docs/plugin.md). Exit codes: 0 done, 1 failed, 2 arguments that make no sense, 3 the key was refused.`;

const PROVIDER_URN = /^urn:pulumi:[^:]+::[^:]+::(?:.*\$)?pulumi:providers:endpoints::(.+)$/;

const command: Command = {
  name: "import-file",
  help: HELP,

  async run(args) {
    const values = parseOptions(args, { ...selectionOptions, provider: { type: "string" } });
    const { provider } = values;
    if (provider !== undefined && !PROVIDER_URN.test(provider))
      throw new UsageError(
        "--provider takes the URN of a pulumi:providers:endpoints, as `pulumi stack --show-urns` lists it",
      );
    const options = selectionOf(values);
    assertWritable(options.out);
    const { endpoints, target, isTaken } = await selectEndpoints(options);
    const names = namesOf(endpoints, isTaken);
    const file = importFileOf(endpoints, names, provider);
    writeResult(options.out, `${JSON.stringify(file, undefined, 2)}\n`);

    const where = options.out.file;
    log(`Taken: ${count(endpoints.length, "endpoint")}${where === undefined ? "" : `, written to ${where}`}`);
    if (endpoints.length === 0) return EXIT.done;
    for (const live of endpoints)
      for (const problem of problemsOf(live))
        log(
          `Check the code that pulumi import prints for ${plain(`${live.id} (${live.url ?? "no URL"}): ${problem}`)}. Or leave the endpoint out with --select, or change it on the service first`,
        );
    const withSecrets = endpoints.filter(containsSecrets).length;
    if (withSecrets > 0) {
      const which = withSecrets === 1 ? "1 of them contains" : `${withSecrets} of them contain`;
      log(
        `${which} secrets, which the code that pulumi import prints shows in plain: --generate-code=false prints no code, and \`npx pulumi-endpoints adopt\` writes code without secrets`,
      );
    }
    const stack = target ? ` --stack ${target.stack}` : "";
    log(`Next: pulumi import --file ${where ?? "FILE"}${stack}`);
    return EXIT.done;
  },
};

/** `npx pulumi-endpoints import-file`: writes the file with which `pulumi import --file` imports a whole account. */
export const importFileCommand = (args: string[]): Promise<number> => runCommand(command, args);

/** The file as `pulumi import --file` reads it. The names of its resources and of its table are all different. */
function importFileOf(
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

/** Why the code that an import prints may be refused, change the endpoint, or show a secret. */
function problemsOf(live: LiveEndpoint): string[] {
  const adoption = adoptionOf(live);
  return "reason" in adoption ? [adoption.reason] : adoption.leftToService;
}

function containsSecrets({ trafficPolicy, metadata }: LiveEndpoint): boolean {
  const policy = policyFromText(trafficPolicy ?? "");
  const places = secretPlaces(["data" in policy && policy.data, metadataFromText(metadata ?? "").data]);
  return places.some(({ secret }) => secret !== "");
}
