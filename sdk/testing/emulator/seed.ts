import type { WireEndpoint } from "../../../provider/api/wire";
import { addressOf } from "./address";
import { base62 } from "./random";
import type { Store } from "./store";

/** An endpoint to put there: its type, and any field of it. A field given as `undefined` is left out. */
export type Seed = { type: "cloud" | "ephemeral" | "edge" } & Partial<WireEndpoint>;

const EDGE_KINDS: Record<string, string> = { https: "edghts", http: "edghts", tls: "edgtls", tcp: "edgtcp" };

/** A whole endpoint of the seed's type, as its maker would have made it, with the seed's fields over it. */
export function endpointOf(seed: Seed, store: Store): WireEndpoint {
  const makers = { cloud, ephemeral, edge };
  const whole = { ...makers[seed.type](seed, store), ...seed };
  return Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined)) as WireEndpoint;
}

function cloud(seed: Seed, store: Store): WireEndpoint {
  const { url = `https://${randomLabel()}.example.com`, bindings, id } = seed;
  const made = store.cloud(addressOf(url), bindings ? { bindings } : {});
  return id === undefined ? made : { ...made, uri: `${store.baseUrl}/endpoints/${id}` };
}

/** An agent's endpoint on a random address: no domain is reserved, and the owner's reference has an empty `uri`. */
function ephemeral(seed: Seed, store: Store): WireEndpoint {
  const { baseUrl } = store;
  const suffix = base62();
  const session = base62();
  const { domain: _none, ...address } = store.derived(
    addressOf(seed.url ?? `https://${randomLabel()}.example.app`),
  );
  return {
    ...common(store),
    ...address,
    id: `ep_${suffix}`,
    name: "command_line",
    upstream_url: "http://localhost:80",
    principal: { id: `usr_${base62()}`, uri: "" },
    tunnel: { id: `tn_${suffix}`, uri: `${baseUrl}/tunnels/tn_${suffix}` },
    tunnel_session: { id: `ts_${session}`, uri: `${baseUrl}/tunnel_sessions/ts_${session}` },
  };
}

/** An edge's endpoint has a `public_url` and no `url`. */
function edge(seed: Seed, store: Store): WireEndpoint {
  const { public_url: publicUrl = `tls://${randomLabel()}.example.com`, hostport } = seed;
  // A public URL of tcp need not hold its port, which is still part of the address.
  const port = hostport?.split(":")[1] ?? (publicUrl.startsWith("tcp:") ? "10000" : undefined);
  const complete = port === undefined || /:\d+$/.test(publicUrl);
  const { url: _none, ...address } = store.derived(addressOf(complete ? publicUrl : `${publicUrl}:${port}`));
  const id = `${EDGE_KINDS[address.proto]}_${base62()}`;
  return {
    ...common(store),
    ...address,
    id: `ep_${base62()}`,
    edge: { id, uri: `${store.baseUrl}/edges/${address.proto === "http" ? "https" : address.proto}/${id}` },
  };
}

function common(store: Store) {
  const time = store.time();
  return { bindings: ["public"], pooling_enabled: false, created_at: time, updated_at: time };
}

const randomLabel = () => base62(12).toLowerCase();
