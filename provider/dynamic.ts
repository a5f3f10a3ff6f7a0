import { EndpointsApi } from "./api/endpoints";
import { HttpClient } from "./api/http";
import { CloudEndpoints } from "./cloudEndpoint";
import { type ConfigReader, readSettings } from "./config";
import { endWithEngine, engineAddress, engineIsThere } from "./engine";
import type { JsonObject } from "./schema";
import { UserError } from "./userError";

/** What Pulumi hands to a dynamic provider's `configure`: the whole stack configuration, secrets in plain. */
export interface ConfigureRequest {
  config: { get(key: string): string | undefined };
}

/** The object that Pulumi's dynamic provider host drives: the core, in that host's terms. */
export function dynamicProvider() {
  let config: ConfigReader = () => undefined;
  let api: EndpointsApi | undefined;
  let watched = false;
  const engine = engineAddress();
  const say = (message: string) => console.log(message);
  const around = { say, engineIsThere: () => engineIsThere(engine) };
  const core = new CloudEndpoints({
    api: () => (api ??= new EndpointsApi(new HttpClient(readSettings(config), around))),
    say,
  });

  return {
    /**
     * Only notes where the settings are: several calls arrive at once, the others do not wait for this one, and an
     * error thrown here would reach only the first of them.
     */
    configure(request: ConfigureRequest): void {
      config = (key) => request.config.get(key);
      api = undefined;
      if (!watched) endWithEngine(engine);
      watched = true;
    },
    check: (olds: JsonObject, news: JsonObject) => plainly(() => core.check(olds, news)),
    diff: (id: string, olds: JsonObject, news: JsonObject) => plainly(async () => core.diff(id, olds, news)),
    create: (news: JsonObject) => plainly(() => core.create(news)),
    read: (id: string, stored: JsonObject) => plainly(() => core.read(id, stored)),
    update: (id: string, olds: JsonObject, news: JsonObject) => plainly(() => core.update(id, olds, news)),
    delete: (id: string, stored: JsonObject) => plainly(() => core.delete(id, stored)),
  };
}

/** The host prints the stack of an error beside its message. Where the message says it all, there is none to print. */
async function plainly<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UserError) error.stack = "";
    throw error;
  }
}
