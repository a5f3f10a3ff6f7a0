import type { WireEndpoint } from "../../provider/api/contract";
import type { Emulator, Seed } from "../../sdk/testing/emulator";
import type { RecordedRequest } from "../../sdk/testing/types";

/** Names endpoints in scenes, since their ids are random. */
export class EndpointNames {
  private readonly names = new Map<string, string>();
  /** The label of each endpoint's URL when it got its name. */
  private readonly labels = new Map<string, string>();

  constructor(private readonly emulator: Emulator) {}

  of = (id: string): string => this.names.get(id) ?? `unknown ${id}`;

  idOf(name: string): string {
    this.nameNew();
    const [id] = [...this.names].find(([, known]) => known === name) ?? [];
    if (id === undefined) throw new Error(`there is no endpoint ${name}`);
    return id;
  }

  seed(name: string, endpoint: Partial<Seed> & { url: string }): string {
    const { id } = this.emulator.seed({ type: "cloud", ...endpoint });
    this.names.set(id, name);
    this.labels.set(id, labelOf(endpoint.url));
    return id;
  }

  /** Names the endpoints that have no name yet. */
  nameNew(): void {
    for (const { id = "", url } of this.emulator.endpoints.toReversed()) {
      if (this.names.has(id)) continue;
      const label = labelOf(url);
      const others = [...this.names.values()].filter((name) => name.split("#")[0] === label).length;
      this.names.set(id, others === 0 ? label : `${label}#${others + 1}`);
      this.labels.set(id, label);
    }
  }

  live(): string[] {
    this.nameNew();
    const shown = ({ id = "", url }: WireEndpoint) =>
      this.labels.get(id) === labelOf(url) ? this.of(id) : `${this.of(id)}=${labelOf(url)}`;
    return this.emulator.endpoints.map(shown).sort();
  }

  /** The writing requests in the form of `Run.writes`. */
  writesOf(requests: readonly RecordedRequest[]): string[] {
    const isRefused = ({ status }: RecordedRequest) => status >= 400 && status < 500;
    return requests
      .filter((request) => request.method !== "GET" && !isRefused(request))
      .map(({ method, path, body, status }) => {
        const { url, ...fields } = Object(body) as { url?: string };
        const name = method === "POST" ? labelOf(url) : this.of(path.split("/").at(-1) ?? "");
        const changed = Object.keys(fields).filter((field) => field !== "id");
        const what = method === "PATCH" ? [...(url ? [`url=${labelOf(url)}`] : []), ...changed] : [];
        return [method, name, ...what, ...(status >= 200 && status < 300 ? [] : [status])].join(" ");
      })
      .sort();
  }
}

const labelOf = (url = "") => new URL(url).hostname.replace(/\.example\.com$/, "");
