import type { WireEndpoint } from "../../../provider/service/contract";
import { base62 } from "./random";
import { type ParsedUrl, parseUrl } from "./serviceRules";
import { bindingsFor, type Store } from "./store";

/** An endpoint to add: its type and any other fields. A field with the value `undefined` is left out. */
export type Seed = { type: "cloud" | "ephemeral" | "edge" } & Partial<WireEndpoint>;

const EDGE_KINDS: Record<string, string> = { https: "edghts", http: "edghts", tls: "edgtls", tcp: "edgtcp" };

export function completeSeed(seed: Seed, store: Store): WireEndpoint {
  const byType = { cloud, ephemeral, edge };
  const all = { ...byType[seed.type](seed, store), ...seed };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as WireEndpoint;
}

function cloud(seed: Seed, store: Store): WireEndpoint {
  const { url = `https://${randomLabel()}.example.com`, bindings, id } = seed;
  const endpoint = store.cloud(parseUrl(url), bindings ? { bindings } : {});
  return id === undefined ? endpoint : { ...endpoint, uri: `${store.baseUrl}/endpoints/${id}` };
}

/** An agent's endpoint. It has no reserved domain, and the reference to its owner has an empty `uri`. */
function ephemeral(seed: Seed, store: Store): WireEndpoint {
  const { baseUrl } = store;
  const suffix = base62();
  const session = base62();
  const url = parseUrl(seed.url ?? `https://${randomLabel()}.example.app`);
  const { domain: _none, ...address } = store.derived(url);
  return {
    ...common(store, url),
    ...address,
    id: `ep_${suffix}`,
    name: "command_line",
    upstream_url: "http://localhost:80",
    principal: { id: `usr_${base62()}`, uri: "" },
    tunnel: { id: `tn_${suffix}`, uri: `${baseUrl}/tunnels/tn_${suffix}` },
    tunnel_session: { id: `ts_${session}`, uri: `${baseUrl}/tunnel_sessions/ts_${session}` },
  };
}

/** An edge's endpoint. It has a `public_url` and no `url`. */
function edge(seed: Seed, store: Store): WireEndpoint {
  const { public_url: publicUrl = `tls://${randomLabel()}.example.com`, hostport } = seed;
  // The public URL of a tcp endpoint can lack the port, but its address has one.
  const port = hostport?.split(":")[1] ?? (publicUrl.startsWith("tcp:") ? "10000" : undefined);
  const complete = port === undefined || /:\d+$/.test(publicUrl);
  const url = parseUrl(complete ? publicUrl : `${publicUrl}:${port}`);
  const { url: _none, ...address } = store.derived(url);
  const id = `${EDGE_KINDS[address.proto]}_${base62()}`;
  return {
    ...common(store, url),
    ...address,
    id: `ep_${base62()}`,
    edge: { id, uri: `${store.baseUrl}/edges/${address.proto === "http" ? "https" : address.proto}/${id}` },
  };
}

function common(store: Store, url: ParsedUrl) {
  const time = store.time();
  return { bindings: bindingsFor(url), pooling_enabled: false, created_at: time, updated_at: time };
}

const randomLabel = () => base62(12).toLowerCase();
