import { type JsonObject, oneLine } from "./data/index";
import { endpointParsers } from "./endpoint/fields";
import { type EngineInputs, engineInputs } from "./endpoint/inputs";
import { CloudEndpoints } from "./endpoint/resource";
import { displayPath, displayUrl, notedSecrets, withSecretsMarked } from "./endpoint/secrets";
import { changedPaths } from "./endpoint/state";
import { engineAddress, exitWithEngine, isEngineAlive } from "./pulumi/engineWatch";
import { hasUnknown } from "./pulumi/sentinels";
import { UserError } from "./service/apiErrors";
import { HttpClient } from "./service/client";
import { type Clock, realClock } from "./service/clock";
import { EndpointsApi } from "./service/endpoints";
import { withoutKeys } from "./service/redaction";
import { type ConfigReader, readSettings } from "./service/settings";

/** The argument of a dynamic provider's `configure`: the whole stack configuration, secrets in plain text. */
interface ConfigureRequest {
  config: { get(key: string): string | undefined };
}

interface DynamicOptions {
  /** The service to use instead of the configured one. */
  service?: () => EndpointsApi;
  clock?: Clock;
}

/** The core behind the interface of Pulumi's dynamic providers. */
export function dynamicProvider({ service: given, clock = realClock }: DynamicOptions = {}) {
  let config: ConfigReader = () => undefined;
  let service: EndpointsApi | undefined;
  let watched = false;
  const address = engineAddress();
  const write = (message: string) => console.log(withoutKeys(message));
  // A dynamic provider can only print: the engine shows all of it alike.
  const log = { info: write, warn: withoutRepeats((message: string) => write(`warning: ${message}`)) };
  const deps = { clock, log, isEngineAlive: () => isEngineAlive(address) };
  const connect = () => new EndpointsApi(new HttpClient(readSettings(config), deps), endpointParsers);
  const core = new CloudEndpoints({ connect: given ?? (() => (service ??= connect())), log });

  /** Logs the places that change in a secret document, because the engine only shows `[secret]`. */
  const reportSecretChanges = (state: JsonObject, news: EngineInputs): void => {
    const secretFields = notedSecrets(news);
    const places = changedPaths(state, news)
      .filter(({ path: [name = ""] }) => secretFields.includes(`${name}`) && !hasUnknown(Object(news)[name]))
      .map(({ path }) => displayPath(path, news));
    const changes = oneLine(places.join(", "), 300);
    if (places.length > 0) write(`${displayUrl(news)}: changes ${changes}`);
  };

  return {
    /**
     * Only keeps the configuration. Other calls do not wait for this one, and an error thrown here would reach only the first
     * of them.
     */
    configure(request: ConfigureRequest): void {
      config = (key) => request.config.get(key);
      service = undefined;
      if (!watched) {
        exitWithEngine(address);
        suppressRepeatedErrors();
      }
      watched = true;
    },
    check: (oldInputs: JsonObject, news: JsonObject) =>
      withPlainErrors(async () => {
        const { inputs, failures } = await core.check(oldInputs, news);
        return {
          inputs: withSecretsMarked(inputs),
          failures: failures.map(({ reason }) => ({ property: "", reason })),
        };
      }),
    diff: (id: string, state: JsonObject, given: JsonObject) =>
      withPlainErrors(async () => {
        const news = engineInputs(given);
        const decision = await core.diff(id, state, news);
        // Most resources have no change, and the report parses the documents again.
        if (decision.changes) reportSecretChanges(state, news);
        return decision;
      }),
    create: (news: JsonObject) => withPlainErrors(async () => core.create(engineInputs(news))),
    read: (id: string, state: JsonObject) => withPlainErrors(() => core.read(id, state)),
    update: (id: string, state: JsonObject, news: JsonObject) =>
      withPlainErrors(async () => core.update(id, state, engineInputs(news))),
    delete: (id: string, state: JsonObject) => withPlainErrors(() => core.delete(id, state)),
  };
}

/** Shows each message once. */
function withoutRepeats(show: (message: string) => void): (message: string) => void {
  const shown = new Set<string>();
  return (message) => {
    if (!shown.has(message)) show(message);
    shown.add(message);
  };
}

/** The text of our errors in the output of Pulumi's process for dynamic providers. The engine prints their messages. */
const PRINTED_BY_ENGINE = "[printed by the engine]";

async function withPlainErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UserError) Object.assign(error, { stack: "", toString: () => PRINTED_BY_ENGINE });
    throw error;
  }
}

/** Drops the output of our errors by Pulumi's process, which is `${error}: ${error.stack}`. */
function suppressRepeatedErrors(): void {
  const { error } = console;
  console.error = (...parts: unknown[]) => {
    if (parts[0] !== `${PRINTED_BY_ENGINE}: `) error(...parts);
  };
}
