import * as pulumi from "@pulumi/pulumi";
import { isMapping, type Path, pathText } from "../provider/document";

/**
 * Where secrets stand in the arguments of a resource, as Pulumi writes paths: the provider is to know which values it must
 * not show, and by the time that it gets them their marks are gone, or are those of whole documents. Holds no value.
 */
export async function secretPlacesOf(args: object): Promise<string[]> {
  const places = await Promise.all(Object.entries(args).map(([name, value]) => placesIn(value, [name])));
  return places.flat();
}

async function placesIn(value: unknown, path: Path): Promise<string[]> {
  // An output holds no other: what is secret in it, makes it secret as a whole.
  if (pulumi.Output.isInstance(value)) return (await pulumi.isSecret(value)) ? [pathText(path)] : [];
  if (value instanceof Promise) return placesIn(await value, path);
  if (!Array.isArray(value) && !isMapping(value)) return [];
  const parts = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  const places = await Promise.all(parts.map(([key, part]) => placesIn(part, [...path, key])));
  return places.flat();
}
