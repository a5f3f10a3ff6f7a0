import type { Emulator, Seed } from "../../sdk/testing/emulator";
import type { RecordedRequest } from "../../sdk/testing/types";

/** Names endpoints in scenes, since their ids are random. */
export class EndpointNames {
  private readonly names = new Map<string, string>();

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
    return id;
  }

  /** Names the endpoints that have no name yet. */
  nameNew(): void {
    for (const { id = "", url } of this.emulator.endpoints.toReversed()) {
      if (this.names.has(id)) continue;
      const label = labelOf(url);
      const others = [...this.names.values()].filter((name) => name.split("#")[0] === label).length;
      this.names.set(id, others === 0 ? label : `${label}#${others + 1}`);
    }
  }

  live(): string[] {
    this.nameNew();
    const shown = this.emulator.endpoints.map(({ id = "", url }) => {
      const [name, label] = [this.of(id), labelOf(url)];
      return name.split("#")[0] === label || label === "" ? name : `${name}=${label}`;
    });
    return shown.sort();
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
