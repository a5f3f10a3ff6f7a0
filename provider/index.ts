/*
 * What the provider string in every state requires by name: `require("pulumi-endpoints/provider")`. The names exported
 * here, and the properties that they read and write in states, have to work for as long as a state exists.
 */
import { dynamicProvider } from "./dynamic";

const provider = dynamicProvider();

export const { configure, check, diff, create, read, update } = provider;
const remove = provider.delete;

export { remove as delete };
