import { isProps, type Props } from "./values";

/** Which plugin a provider is of; empty where nothing is said. */
export interface Plugin {
  version: string;
  pluginDownloadURL: string;
}

/** Where a provider's inputs hold what is the engine's own. */
export const INTERNAL = "__internal";

/** As `FilterProviderConfig`. */
export function withoutInternal(inputs: Props): Props {
  const { [INTERNAL]: _, ...rest } = inputs;
  return rest;
}

/** As `SetProviderVersion` and `SetProviderURL`. */
export function withPlugin(inputs: Props, { version, pluginDownloadURL }: Plugin): Props {
  if (version === "" && pluginDownloadURL === "") return inputs;
  const internal = isProps(inputs[INTERNAL]) ? inputs[INTERNAL] : {};
  return {
    ...inputs,
    ...(version !== "" && { version }),
    [INTERNAL]: { ...internal, ...(pluginDownloadURL !== "" && { pluginDownloadURL }) },
  };
}

/** As `GetProviderVersion` and `GetProviderDownloadURL`. */
export function pluginOf(inputs: Props): Plugin {
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  const internal = isProps(inputs[INTERNAL]) ? inputs[INTERNAL] : {};
  return { version: text(inputs["version"]), pluginDownloadURL: text(internal["pluginDownloadURL"]) };
}
