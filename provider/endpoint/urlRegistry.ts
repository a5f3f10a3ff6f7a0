import { normalizeUrl, oneLine } from "../data/index";

/** The use of a URL, or of an id, by a resource. */
interface UrlUse {
  /** Identifies the resource. The same owner never conflicts with itself. */
  owner: unknown;
  /** The resource's name in the program. */
  name: string;
  pooled: boolean;
}

/** The URLs of a run's resources, and the ids that they adopt. The check of a single resource does not see the others. */
export class UrlRegistry {
  private readonly urls = new Map<string, UrlUse>();
  private readonly adopted = new Map<string, UrlUse>();

  /** Returns the conflict with another resource, if any. Only pooled resources may share a URL. */
  register(url: unknown, adopt: unknown, use: UrlUse): string | undefined {
    const normal = typeof url === "string" ? normalizeUrl(url) : undefined;
    const id = typeof adopt === "string" ? adopt : undefined;
    const byUrl = registerUse(this.urls, normal, use);
    const byId = registerUse(this.adopted, id, use);
    if (byId)
      return `${byId.name} adopts ${oneLine(String(adopt), 100)}, too; an endpoint can only belong to one resource, so give the id of another endpoint`;
    if (byUrl && !(byUrl.pooled && use.pooled)) {
      return `the url is also that of ${byUrl.name}; give each endpoint its own url, or set poolingEnabled on both`;
    }
    return undefined;
  }
}

/** Returns another owner's use of the same key, or else stores this one. */
function registerUse(uses: Map<string, UrlUse>, key: string | undefined, use: UrlUse): UrlUse | undefined {
  if (key === undefined) return undefined;
  const other = uses.get(key);
  if (other !== undefined && other.owner !== use.owner) return other;
  uses.set(key, use);
  return undefined;
}
