import { UserError } from "./api/apiErrors";
import { HttpClient } from "./api/client";
import { EndpointsApi } from "./api/endpoints";
import type { JsonObject } from "./api/json";
import { checkedInputs, REPLACE_KEY } from "./check";
import { CloudEndpoints, type Service } from "./cloudEndpoint";
import { type ConfigReader, readSettings } from "./config";
import { changedPlaces } from "./diff";
import { type Change, firstOf, hasUnknown, isWithin, parsePath, pathText } from "./document";
import { endWithEngine, engineAddress, engineIsThere } from "./engine";
import { asSecret, MarkedSecrets, secretFields, shownUrl, withoutKeys } from "./markedSecrets";

/** What Pulumi hands to a dynamic provider's `configure`: the whole stack configuration, secrets in plain. */
interface ConfigureRequest {
  config: { get(key: string): string | undefined };
}

/**
 * The object that Pulumi's dynamic provider host drives: the core, in that host's terms.
 *
 * @param given The service, instead of the one that the settings name.
 */
export function dynamicProvider(given?: () => Service) {
  let config: ConfigReader = () => undefined;
  let service: Service | undefined;
  let watched = false;
  const engine = engineAddress();
  const write = (message: string) => console.log(message);
  const log = { info: write, warn: write };
  const secrets = new MarkedSecrets();
  const deps = { log, engineIsThere: () => engineIsThere(engine), redactor: secrets.redaction };
  const connect = (): Service => {
    const settings = readSettings(config);
    return { settings, api: new EndpointsApi(new HttpClient(settings, deps)) };
  };
  const core = new CloudEndpoints({ connect: given ?? (() => (service ??= connect())), log });

  /** With marks of its own: the engine marks what has the name of a secret input, and nothing that came otherwise. */
  const answer = (props: JsonObject, asked: JsonObject): JsonObject => {
    const noted = secrets.noted(props, asked);
    const fields = secretFields(noted);
    const marked = Object.entries(noted).map(([name, value]) => [
      name,
      fields.has(name) ? asSecret(value) : value,
    ]);
    return Object.fromEntries(marked);
  };

  /** The engine shows a secret document as `[secret]` before and after, without the places that change in it. */
  const reportHidden = (changes: Change[], news: JsonObject): void => {
    const hidden = secretFields(news);
    const places = changes
      .filter(({ path: [name = ""] }) => hidden.has(`${name}`) && !hasUnknown(news[name]))
      .map(({ path }) => pathText(withoutKeys(path)));
    if (places.length > 0) write(`${shownUrl(checkedInputs(news))}: changes ${firstOf(places)}`);
  };

  return {
    /**
     * Only notes where the settings are: several calls arrive at once, the others do not wait for this one, and an
     * error thrown here would reach only the first of them.
     */
    configure(request: ConfigureRequest): void {
      config = (key) => request.config.get(key);
      service = undefined;
      if (!watched) {
        endWithEngine(engine);
        leaveErrorsToEngine();
      }
      watched = true;
    },
    check: (olds: JsonObject, news: JsonObject) =>
      plainly(async () => {
        secrets.learn(olds, news);
        const { inputs, failures } = await core.check(olds, news);
        // Without a property, the engine prints the reason alone.
        return { inputs, failures: failures.map(({ reason }) => ({ property: "", reason })) };
      }),
    diff: (id: string, olds: JsonObject, news: JsonObject) =>
      plainly(async () => {
        secrets.learn(olds, news);
        const decision = core.diff(id, olds, news);
        // Most resources of most runs: what follows parses the documents again.
        if (!decision.changes) return decision;
        const places = changedPlaces(olds, checkedInputs(news));
        reportHidden(places, news);
        return { ...decision, replaces: [...new Set([...decision.replaces, ...replacedBy(places, news)])] };
      }),
    create: (news: JsonObject) =>
      plainly(async () => {
        secrets.learn(news);
        const { id, outs } = await core.create(news);
        return { id, outs: answer(outs, news) };
      }),
    read: (id: string, stored: JsonObject) =>
      plainly(async () => {
        secrets.learn(stored);
        const { props, inputs, ...found } = await core.read(id, stored);
        return { ...found, props: answer(props, stored), ...(inputs && { inputs: answer(inputs, stored) }) };
      }),
    update: (id: string, olds: JsonObject, news: JsonObject) =>
      plainly(async () => {
        secrets.learn(olds, news);
        const { outs } = await core.update(id, olds, news);
        return { outs: answer(outs, news) };
      }),
    delete: (id: string, stored: JsonObject) =>
      plainly(() => {
        secrets.learn(stored);
        return core.delete(id, stored);
      }),
  };
}

/** The properties that have to be replaced, since the option `replaceOnChanges` names a place of theirs that changes. */
function replacedBy(places: Change[], news: JsonObject): string[] {
  const option = news[REPLACE_KEY];
  const written = (Array.isArray(option) ? option : []).map((text) => parsePath(String(text)) ?? []);
  const isNamed = ({ path }: Change) => written.some((one) => one.length > 0 && isWithin(path, one));
  return places.filter(isNamed).map(({ path }) => String(path[0]));
}

/** What the host prints of an error of ours before it hands the error to the engine, which prints the message. */
const TWICE = "[printed by the engine]";

async function plainly<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UserError) Object.assign(error, { stack: "", toString: () => TWICE });
    throw error;
  }
}

/** Leaves out what the host prints of our errors: it writes `${error}: ${error.stack}`. */
function leaveErrorsToEngine(): void {
  const { error } = console;
  console.error = (...parts: unknown[]) => {
    if (parts[0] !== `${TWICE}: `) error(...parts);
  };
}
