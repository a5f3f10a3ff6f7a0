/*
 * What the provider string in every state requires by name: `require("pulumi-endpoints/provider")`. The names exported
 * here, and the properties that they read and write in states, have to work for as long as a state exists.
 */
import { dynamicProvider } from "./dynamic";

/** The calls of Pulumi's host for dynamic providers. */
interface DynamicProvider {
  configure(request: { config: { get(key: string): string | undefined } }): void;
  check(olds: object, news: object): Promise<unknown>;
  diff(id: string, olds: object, news: object): Promise<unknown>;
  create(news: object): Promise<unknown>;
  read(id: string, properties: object): Promise<unknown>;
  update(id: string, olds: object, news: object): Promise<unknown>;
  delete(id: string, properties: object): Promise<unknown>;
}

const provider: DynamicProvider = dynamicProvider();

export const { configure, check, diff, create, read, update } = provider;
const remove = provider.delete;

export { remove as delete };
