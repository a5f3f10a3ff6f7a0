import * as pb from "@pulumi/pulumi/proto/provider_pb";
import { isMapping, type JsonObject, jsonOf } from "../data/index";
import { changesBetween } from "../endpoint/documents";
import { withSecretsMarked } from "../endpoint/secrets";
import { hasUnknown } from "../pulumi/sentinels";
import { isDefaultProvider } from "../pulumi/urn";
import { fromEngine, toEngine } from "../pulumi/values";
import {
  type ConfigReader,
  isPublicBaseUrl,
  MissingSetting,
  policyWarningsMode,
  readSettings,
  type Settings,
  secretSettings,
  settingsProblems,
  settingText,
} from "../service/settings";
import { detailedDiff } from "./detailedDiff";
import { checkFailure } from "./failure";

/**
 * The settings of a provider instance: the program's arguments, then the stack's configuration, then (as for the dynamic
 * provider) the environment.
 */
export class Configuration {
  private args: JsonObject = {};
  /** Whether the program has made the provider. */
  private isExplicit = false;
  private reader: ConfigReader = () => undefined;

  constructor(private readonly environment: NodeJS.ProcessEnv) {}

  /** Whether no setting is unknown. In a preview, one may come from a resource that does not exist yet. */
  get hasAllSettings(): boolean {
    return !hasUnknown(this.args);
  }

  get isPublicService(): boolean {
    return isPublicBaseUrl(this.reader, this.environment);
  }

  get policyWarnings(): Settings["policyWarnings"] {
    return policyWarningsMode(this.reader, this.environment);
  }

  /** @throws ConfigError if a setting is missing or invalid. */
  settings(): Settings {
    const settings = readSettings(this.reader, this.environment);
    return this.isExplicit && this.args["apiKey"] !== undefined
      ? { ...settings, keySource: "argument" }
      : settings;
  }

  /** Only stores the arguments. `check` or the first operation reports mistakes in them. */
  configure(request: pb.ConfigureRequest): void {
    this.args = fromEngine(request.getArgs()).props;
    this.isExplicit = !isDefaultProvider(request.getName() ?? "");
    this.reader = this.readerOf(this.args, request.getName() ?? "");
  }

  /**
   * Reports all mistakes in the settings, at the preview. For a default provider, the check of an endpoint reports missing
   * settings, because a program without endpoints needs no account.
   */
  check(request: pb.CheckRequest): pb.CheckResponse {
    const { props } = fromEngine(request.getNews());
    const name = request.getName();
    const problems = settingsProblems(this.readerOf(props, name), this.environment).filter(
      (problem) =>
        !hasUnknown(props[problem.setting]) &&
        !(isDefaultProvider(name) && problem instanceof MissingSetting),
    );
    return (
      new pb.CheckResponse()
        .setFailuresList(
          problems.map(({ setting, what, message }) =>
            checkFailure(
              !isDefaultProvider(name) && props[setting] !== undefined
                ? `${what}: correct the argument ${setting} of this provider`
                : message,
            ),
          ),
        )
        // The key is a secret in the state even if the configuration has it in plain text.
        .setInputs(toEngine(withSecretsMarked(props, new Set(secretSettings))))
    );
  }

  /** Never a replacement, because that would replace every endpoint of the provider. */
  diff(request: pb.DiffRequest): pb.DiffResponse {
    const olds = fromEngine(request.getOldInputs() ?? request.getOlds()).props;
    const news = fromEngine(request.getNews()).props;
    const changes = changesBetween(olds, news).map((change) => ({ ...change, isInputDiff: true }));
    return detailedDiff(changes, { changes: changes.length > 0, replaces: [] });
  }

  /** The stack's value is newer than the default provider's copy in the state. */
  private readerOf(args: JsonObject, providerName: string): ConfigReader {
    // The engine puts the stack's configuration of this package into the environment of the plugin.
    const given = jsonOf(this.environment["PULUMI_CONFIG"] ?? "");
    const stack = isMapping(given) ? given : {};
    const [first, second] = isDefaultProvider(providerName) ? [stack, args] : [args, stack];
    return (key) => {
      const name = key.replace(/^endpoints:/, "");
      // The state's copy of it would be older than the stack's own.
      const value = name === "adopt" ? stack[name] : (first[name] ?? second[name]);
      return hasUnknown(value) ? undefined : settingText(value);
    };
  }
}
