import {
  type CheckRequest,
  CheckResponse,
  type ConfigureRequest,
  type DiffRequest,
  type DiffResponse,
} from "@pulumi/pulumi/proto/provider_pb";
import { UserError } from "../api/apiErrors";
import type { JsonObject } from "../api/json";
import { isMapping } from "../api/json";
import {
  type ConfigReader,
  MissingSetting,
  policyWarningsMode,
  readSettings,
  type Settings,
  secretSettings,
  settingsProblems,
} from "../api/settings";
import { changesBetween, hasUnknown, metadataFromText } from "../endpoint/documents";
import { withSecretsMarked } from "../endpoint/secrets";
import { detailedDiff } from "./detailedDiff";
import { checkFailure } from "./failure";
import { fromEngine, toEngine } from "./values";

/** The engine's names for a default provider. */
const DEFAULT_PROVIDER = /^default(_\d+_\d+_\d+.*)?$/;

/**
 * The settings of a provider instance: the program's arguments, then the stack's configuration, then (as for the dynamic
 * provider) the environment.
 */
export class Configuration {
  private args: JsonObject = {};
  private isDefault = false;
  /** Whether no stack is involved, as in `pulumi do --stateless`. Only then, the name is empty. */
  private isStateless = false;
  private readonly stack: JsonObject;

  constructor(private readonly environment: NodeJS.ProcessEnv) {
    // The engine puts the stack's configuration of this package into the environment of the plugin.
    const { data } = metadataFromText(environment["PULUMI_CONFIG"] ?? "");
    this.stack = isMapping(data) ? data : {};
  }

  /** Whether all settings are known. In a preview, one may come from a resource that does not exist yet. */
  get isKnown(): boolean {
    return !hasUnknown(this.args);
  }

  private readonly reader: ConfigReader = (key) =>
    readerOf(this.args, this.stack, { isDefault: this.isDefault })(key);

  get policyWarnings(): Settings["policyWarnings"] {
    return policyWarningsMode(this.reader, this.environment);
  }

  /** @throws ConfigError if a setting is missing or invalid. */
  settings(): Settings {
    // Two creates would carry the same mark, so the second would take over the endpoint of the first.
    if (this.isStateless)
      throw new UserError("pulumi-endpoints needs a stack: run `pulumi up` or `pulumi import` in a project");
    return readSettings(this.reader, this.environment);
  }

  /** Only stores the arguments. `check` or the first operation reports mistakes in them. */
  configure(request: ConfigureRequest): void {
    this.args = fromEngine(request.getArgs()).props;
    this.isDefault = DEFAULT_PROVIDER.test(request.getName() ?? "");
    this.isStateless = request.hasName() && request.getName() === "";
  }

  /**
   * Reports all mistakes in the settings, at the preview. Of a default provider, the check of an endpoint reports those that are
   * missing, because a program without endpoints needs no account.
   */
  check(request: CheckRequest): CheckResponse {
    const { props } = fromEngine(request.getNews());
    const isDefault = DEFAULT_PROVIDER.test(request.getName());
    const reader = readerOf(props, this.stack, { isDefault });
    const problems = settingsProblems(reader, this.environment).filter(
      (problem) => !hasUnknown(props[problem.setting]) && !(isDefault && problem instanceof MissingSetting),
    );

    const response = new CheckResponse();
    response.setFailuresList(problems.map(({ message }) => checkFailure(message)));
    // The key is a secret in the state even if the configuration has it in plain text.
    response.setInputs(toEngine(withSecretsMarked(props, new Set(secretSettings))));
    return response;
  }

  /** Never a replacement, because that would replace every endpoint of the provider. */
  diff(request: DiffRequest): DiffResponse {
    const olds = fromEngine(request.getOldInputs() ?? request.getOlds()).props;
    const news = fromEngine(request.getNews()).props;
    const places = changesBetween(olds, news).map((place) => ({ ...place, ofInputs: true }));
    return detailedDiff(places, { changes: places.length > 0, replaces: [] });
  }
}

/** The stack's value is newer than the default provider's copy in the state. */
function readerOf(args: JsonObject, stack: JsonObject, { isDefault }: { isDefault: boolean }): ConfigReader {
  const [first, second] = isDefault ? [stack, args] : [args, stack];
  return (key) => {
    const name = key.replace(/^endpoints:/, "");
    const value = first[name] ?? second[name];
    return value === undefined || value === null || hasUnknown(value) ? undefined : String(value);
  };
}
