import { TYPES } from "../../../provider/api/typeTokens";

const PROVIDER_URN = /^urn:pulumi:[^:]+::[^:]+::(?:.*\$)?pulumi:providers:endpoints::(.+)$/;

/** The name of the explicit provider that a URN names; undefined for the URN of anything else. */
export const providerName = (urn: string): string | undefined => PROVIDER_URN.exec(urn)?.[1];

/**
 * The text of a file for `pulumi import --file`. The names of its resources and of its table are all different.
 *
 * @param names The names of the resources, by id.
 * @param provider The URN of an explicit provider.
 */
export function importFileOf(names: ReadonlyMap<string, string>, provider: string | undefined): string {
  const given = new Set(names.values());
  let label = providerName(provider ?? "");
  while (label !== undefined && given.has(label)) label = `${label}-provider`;
  const resources = [...names].map(([id, name]) => ({ type: TYPES.plugin, name, id, provider: label }));
  const file = { ...(label !== undefined && { nameTable: { [label]: provider } }), resources };
  return `${JSON.stringify(file, undefined, 2)}\n`;
}
