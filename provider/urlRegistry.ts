import { oneLine } from "./api/foreignText";
import { normalizeUrl } from "./api/url";

/** An entry of a resource. */
interface Entry {
  /** Identifies the resource. The same owner never conflicts with itself. */
  owner: unknown;
  /** The resource's name in the program. */
  name: string;
  pooled: boolean;
}

/** The URLs of a run's resources, and the ids that they adopt. The check of a single resource does not see the others. */
export class UrlRegistry {
  private readonly urls = new Map<string, Entry>();
  private readonly adopted = new Map<string, Entry>();

  /** Returns the conflict with another resource, if any. Only pooled resources may share a URL. */
  register(url: unknown, adopt: unknown, entry: Entry): string | undefined {
    const normal = typeof url === "string" ? normalizeUrl(url) : undefined;
    const id = typeof adopt === "string" ? adopt : undefined;
    const byUrl = add(this.urls, normal, entry);
    const byId = add(this.adopted, id, entry);
    if (byId)
      return `${byId.name} adopts ${oneLine(String(adopt), 100)}, too; an endpoint can be one resource's only`;
    if (byUrl && !(byUrl.pooled && entry.pooled)) {
      return `the url is also that of ${byUrl.name}; give each endpoint its own, or set poolingEnabled on both`;
    }
    return undefined;
  }
}

/** Returns another owner's entry for the same key, or else stores this entry. */
function add(entries: Map<string, Entry>, key: string | undefined, entry: Entry): Entry | undefined {
  if (key === undefined) return undefined;
  const other = entries.get(key);
  if (other !== undefined && other.owner !== entry.owner) return other;
  entries.set(key, entry);
  return undefined;
}
