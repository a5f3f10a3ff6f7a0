import type { LiveEndpoint } from "../../provider/api/contract";
import { oneLine } from "../../provider/api/text";
import { TYPES } from "../../provider/api/typeTokens";
import { reservedKeyProblem } from "../../provider/endpoint/adopt";
import { metadataFromText, policyFromText } from "../../provider/endpoint/documents";
import { findSecrets } from "../../provider/endpoint/secrets";
import { adoptionOf, COMMENTS, logLeft, withAllFields } from "./adopt/adoptable";
import { command, EXIT, UsageError } from "./command";
import { logLeftOut, namesOf, selectEndpoints, selectionOptions, writeResult } from "./selection";

const PROVIDER_URN = /^urn:pulumi:[^:]+::[^:]+::(?:.*\$)?pulumi:providers:endpoints::(.+)$/;

/** `npx pulumi-endpoints import-file`: writes the file with which `pulumi import --file` imports a whole account. */
export const importFileCommand = command({
  name: "import-file",
  about: "Lists the account's cloud endpoints, and writes the JSON that `pulumi import --file` takes.",
  options: {
    ...selectionOptions,
    provider: {
      value: "URN",
      help: "import with this explicit provider of the stack, pulumi:providers:endpoints",
      parse(urn: string) {
        if (PROVIDER_URN.test(urn)) return urn;
        throw new UsageError(
          "takes the URN of a pulumi:providers:endpoints, as `pulumi stack --show-urns` lists it",
        );
      },
    },
  },
  notes: `Without --stack the account is that of ENDPOINTS_API_KEY and ENDPOINTS_BASE_URL. The import needs the plugin in the project (docs/plugin.md).
Exit codes: 0 done, 1 failed, 2 invalid arguments, 3 the key was refused.`,

  async run({ provider, ...values }, io) {
    const { log } = io;
    const selected = await selectEndpoints(values, log);
    const { target, isTaken, addressOf } = selected;
    const endpoints = selected.endpoints.filter((live) => {
      const reserved = reservedKeyProblem(live);
      if (reserved !== undefined) logLeftOut(log, live, reserved);
      return reserved === undefined;
    });
    const file = importFileOf(namesOf(endpoints, isTaken, addressOf), provider);
    writeResult(values, io, endpoints.length, `${JSON.stringify(file, undefined, 2)}\n`);
    if (endpoints.length === 0) {
      selected.logForget([]);
      return EXIT.done;
    }

    // The import reads the endpoints itself, so only the warnings need the policies.
    const lives = await withAllFields(selected.account, endpoints, log, ["trafficPolicy"]);
    for (const live of lives)
      for (const problem of problemsOf(live))
        if (problem === COMMENTS) logLeft(log, live, problem);
        else
          log(
            `${oneLine(`${live.id} (${live.url ?? "no URL"}): ${problem}`)}. Check the code that pulumi import prints for it, leave it out (--except ${live.id}), or change it on the service first`,
          );
    const withSecrets = lives.filter(containsSecrets).length;
    if (withSecrets > 0)
      log(
        `${withSecrets} of them ${withSecrets === 1 ? "contains" : "contain"} secrets, and the code that pulumi import prints shows them in plain text: --generate-code=false prints no code, and \`npx pulumi-endpoints adopt\` writes code without secrets`,
      );
    log(`Next: pulumi import --file ${values.out ?? "FILE"}${target ? ` --stack ${target.stack}` : ""}`);
    selected.logForget(endpoints);
    return EXIT.done;
  },
});

/** The file as `pulumi import --file` reads it. The names of its resources and of its table are all different. */
function importFileOf(names: ReadonlyMap<string, string>, provider: string | undefined): object {
  const given = new Set(names.values());
  let label = PROVIDER_URN.exec(provider ?? "")?.[1];
  while (label !== undefined && given.has(label)) label = `${label}-provider`;
  const resources = [...names].map(([id, name]) => ({ type: TYPES.plugin, name, id, provider: label }));
  return { ...(label !== undefined && { nameTable: { [label]: provider } }), resources };
}

/** Why the code that an import prints may be refused, change the endpoint, or show a secret. */
function problemsOf(live: LiveEndpoint): string[] {
  const adoption = adoptionOf(live);
  return "reason" in adoption ? [adoption.reason] : adoption.leftToService;
}

function containsSecrets({ trafficPolicy, metadata }: LiveEndpoint): boolean {
  const policy = policyFromText(trafficPolicy ?? "");
  const places = findSecrets(["data" in policy && policy.data, metadataFromText(metadata ?? "").data]);
  return places.some(({ secret }) => secret !== "");
}
