import { normalizeUrl } from "./api/url";

/** What one resource registers. */
interface Entry {
  /** Identifies the resource: registering the same owner again is no conflict. */
  owner: unknown;
  /** The resource's name in the program. */
  name: string;
  pooled: boolean;
}

/** The URLs of one run's resources, and the ids that they adopt. The check of one resource does not see the others. */
export class UrlRegistry {
  private readonly urls = new Map<string, Entry>();
  private readonly adopted = new Map<string, Entry>();

  /** Returns the conflict with another resource, if any. A URL is shared only where both resources are pooled. */
  register(url: unknown, adopt: unknown, entry: Entry): string | undefined {
    const normal = typeof url === "string" ? normalizeUrl(url) : undefined;
    const id = typeof adopt === "string" ? adopt : undefined;
    const byUrl = add(this.urls, normal, entry);
    const byId = add(this.adopted, id, entry);
    if (byId) return `${byId.name} adopts ${id}, too; an endpoint can be one resource's only`;
    if (byUrl && !(byUrl.pooled && entry.pooled)) {
      return `the url is also that of ${byUrl.name}; give each endpoint its own, or set poolingEnabled on both`;
    }
    return undefined;
  }
}

/** Returns another owner's entry under the same key; otherwise stores this one. */
function add(entries: Map<string, Entry>, key: string | undefined, entry: Entry): Entry | undefined {
  if (key === undefined) return undefined;
  const other = entries.get(key);
  if (other !== undefined && other.owner !== entry.owner) return other;
  entries.set(key, entry);
  return undefined;
}
