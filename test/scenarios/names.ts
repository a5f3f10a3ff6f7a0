import type { WireEndpoint } from "../../provider/service/contract";
import type { RecordedRequest } from "../../sdk/testing";
import type { Emulator, Seed } from "../../sdk/testing/emulator";
import { labelOf, type Stub } from "./scenario";

/** The names of a scenario's endpoints, since their ids are random. */
export class EndpointNames {
  private readonly names = new Map<string, string>();
  /** The label of each endpoint's URL when it got its name. */
  private readonly labels = new Map<string, string>();

  constructor(private readonly emulator: Emulator) {}

  nameOf = (id: string): string => this.names.get(id) ?? `unknown ${id}`;

  idOf(name: string): string {
    this.nameNew();
    const [id] = [...this.names].find(([, known]) => known === name) ?? [];
    if (id === undefined) throw new Error(`there is no endpoint ${name}`);
    return id;
  }

  /** A text with ids in place of names: `@shop`. */
  withIds = (text: string): string => text.replace(/@([\w#]+)/g, (_, name) => this.idOf(name));

  seed(name: string, endpoint: Partial<Seed>): string {
    const { id = "", ...live } = this.emulator.seed({ type: "cloud", ...endpoint });
    this.names.set(id, name);
    this.labels.set(id, labelOf(urlOf(live)));
    return id;
  }

  /** Names the endpoints that have no name yet. */
  nameNew(): void {
    for (const { id = "", ...live } of this.emulator.endpoints.toReversed()) {
      if (this.names.has(id)) continue;
      const label = labelOf(urlOf(live));
      const others = [...this.names.values()].filter((name) => name.split("#")[0] === label).length;
      this.names.set(id, others === 0 ? label : `${label}#${others + 1}`);
      this.labels.set(id, label);
    }
  }

  /** The name of an endpoint, with its URL's label if it has moved: `a=b`. */
  nameWithUrl = (id: string): string => {
    const live = this.emulator.endpoints.find((endpoint) => endpoint.id === id);
    const label = live && labelOf(urlOf(live));
    return label === undefined || label === this.labels.get(id)
      ? this.nameOf(id)
      : `${this.nameOf(id)}=${label}`;
  };

  liveNames(): string[] {
    this.nameNew();
    return this.emulator.endpoints.map(({ id = "" }) => this.nameWithUrl(id)).sort();
  }

  /** The reading requests in the form of `Run.reads`. */
  readsOf(requests: readonly RecordedRequest[]): string[] {
    return requests
      .filter(({ method }) => method === "GET")
      .map(({ path }) => path.replace(/ep_\w+/, this.nameOf));
  }

  /** The writing requests in the form of `Run.writes`. */
  writesOf(requests: readonly RecordedRequest[]): string[] {
    const isRefused = ({ status }: RecordedRequest) => status >= 400 && status < 500;
    return requests
      .filter((request) => request.method !== "GET" && !isRefused(request))
      .map(({ method, path, body, status }) => {
        const { url, ...fields } = Object(body) as { url?: string };
        const name = method === "POST" ? labelOf(url) : this.nameOf(path.split("/").at(-1) ?? "");
        const changed = Object.keys(fields).filter((field) => field !== "id");
        const what = method === "PATCH" ? [...(url ? [`url=${labelOf(url)}`] : []), ...changed] : [];
        return [method, name, ...what, ...(status >= 200 && status < 300 ? [] : [status])].join(" ");
      })
      .sort();
  }
}

/** The URL of an endpoint. Edges have only a public URL. */
const urlOf = ({ url, public_url }: Partial<WireEndpoint>) => url ?? public_url;

type Sent = Pick<RecordedRequest, "method" | "path">;
const operations: Record<Stub[0], (request: Sent) => boolean> = {
  create: ({ method }) => method === "POST",
  list: ({ method, path }) => method === "GET" && path === "/endpoints",
  read: ({ method, path }) => method === "GET" && path !== "/endpoints",
  update: ({ method }) => method === "PATCH",
  delete: ({ method }) => method === "DELETE",
  "by id": ({ path }) => path !== "/endpoints",
  any: () => true,
};

/** Scripts the service's replies. The returned function ends the scripts. */
export function scriptReplies(emulator: Emulator, replies: Stub[] = []): () => void {
  let isOver = false;
  for (const [operation, reply, times] of replies)
    emulator.intercept((request) => !isOver && operations[operation](request), reply, times);
  return () => {
    isOver = true;
  };
}
