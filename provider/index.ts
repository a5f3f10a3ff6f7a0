/*
 * The module that the provider string in every state loads: `require("pulumi-endpoints/provider")`. The exported names, and
 * the state's properties that they use, must work for as long as any state exists.
 */
import "./data/nodeVersion";
import { dynamicProvider } from "./dynamic";

/** The interface that Pulumi's dynamic provider host calls. */
interface DynamicProvider {
  configure(request: { config: { get(key: string): string | undefined } }): void;
  check(oldInputs: object, news: object): Promise<unknown>;
  diff(id: string, state: object, news: object): Promise<unknown>;
  create(news: object): Promise<unknown>;
  read(id: string, state: object): Promise<unknown>;
  update(id: string, state: object, news: object): Promise<unknown>;
  delete(id: string, state: object): Promise<unknown>;
}

const provider: DynamicProvider = dynamicProvider();

export const { configure, check, diff, create, read, update } = provider;
const remove = provider.delete;

export { remove as delete };
