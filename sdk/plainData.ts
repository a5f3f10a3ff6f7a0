import * as pulumi from "@pulumi/pulumi";
import type { PolicyReader } from "../provider/data/index";
import { isMapping, MAX_DEPTH, problemsOfData } from "../provider/data/index";
import { metadataFromText } from "../provider/endpoint/documents";
import { documentFields } from "../provider/endpoint/fields";
import { standInFor } from "../provider/endpoint/standIns";

/*
 * Pulumi's SDK turns each object of a document into a plain one: a Date becomes {}, and a Buffer an object of numbers. So
 * documents are checked here first. A value that has passed through `pulumi.output`, `all` or `secret` is already plain.
 */

type Documents = { [Name in (typeof documentFields)[number]]?: unknown };

/** The inputs with a text in place of each part of a document that JSON cannot hold. The check refuses it, and names the place. */
export const withPlainData = <Args extends Documents>(args: Args): Args =>
  withDocuments(args, (document) => plainData(document));

/** The inputs with documents of text parsed, so that the option `ignoreChanges` finds their parts. */
export const withParsedText = <Args extends Documents>(args: Args, readPolicy: PolicyReader): Args =>
  withDocuments(args, (document, field) =>
    onceKnown(document, (known) => {
      if (typeof known !== "string") return known;
      return field === "trafficPolicy" ? fromPolicyText(known, readPolicy) : metadataFromText(known).data;
    }),
  );

function withDocuments<Args extends Documents>(
  args: Args,
  map: (document: unknown, field: keyof Documents) => unknown,
): Args {
  const given = documentFields.filter((field) => args[field] !== undefined);
  return { ...args, ...Object.fromEntries(given.map((field) => [field, map(args[field], field)])) };
}

/** The data of a policy's text, or the text itself if the check will refuse it. */
function fromPolicyText(text: string, readPolicy: PolicyReader): unknown {
  const data = readPolicy(text)?.data;
  return data === undefined || problemsOfData(data).length > 0 ? text : data;
}

/** The value with a text in place of each part that JSON cannot hold, at any depth, in outputs and promises too. */
export function plainData(value: unknown, parents: readonly object[] = []): unknown {
  return onceKnown(value, (known) => {
    const kind = kindOfNonData(known, parents);
    if (kind !== undefined) return standInFor(kind);
    if (typeof known !== "object" || known === null) return known;
    // The check refuses an object at this level, whatever is in it.
    if (parents.length === MAX_DEPTH) return {};
    const part = (inside: unknown) => plainData(inside, [...parents, known]);
    if (Array.isArray(known)) return known.map(part);
    return Object.fromEntries(Object.entries(known).map(([name, inside]) => [name, part(inside)]));
  });
}

/** Applies the function to the value in outputs and promises. */
function onceKnown(value: unknown, use: (known: unknown) => unknown): unknown {
  if (pulumi.Output.isInstance(value)) return value.apply((known) => onceKnown(known, use));
  if (value instanceof Promise) return value.then((known) => onceKnown(known, use));
  return use(value);
}

/** The kind of a value that JSON cannot hold. Undefined for data, which may also be an instance of a class. */
function kindOfNonData(value: unknown, parents: readonly object[]): string | undefined {
  if (["bigint", "function", "symbol"].includes(typeof value)) return typeof value;
  if (typeof value !== "object" || value === null) return undefined;
  if (parents.includes(value)) return "object that contains itself";
  if (Array.isArray(value)) return undefined;
  if (Buffer.isBuffer(value)) return "Buffer";
  // The name of a built-in class, also one of another realm. A class of the program, or a module, can have any name.
  const [, builtIn = ""] = /^\[object (.*)\]$/s.exec(Object.prototype.toString.call(value)) ?? [];
  if (builtIn !== "Object" && builtIn in globalThis) return builtIn;
  if (isOfPulumi(value)) return "resource or asset";
  const isConverted = "toJSON" in value && typeof value.toJSON === "function";
  if (isMapping(value)) return isConverted ? "object with toJSON" : undefined;
  return isConverted || Object.keys(value).length === 0 ? value.constructor?.name : undefined;
}

const isOfPulumi = (value: object): boolean =>
  [pulumi.Resource, pulumi.asset.Asset, pulumi.asset.Archive].some((one) => one.isInstance(value));
