import { normalizeUrl, oneLine } from "../../sdk/traffic-policy/index";

/** What a resource claims. */
interface UrlClaim {
  /** Identifies the resource. The same owner never conflicts with itself. */
  owner: unknown;
  /** The resource's name in the program. */
  name: string;
  pooled: boolean;
}

/** The URLs of a run's resources, and the ids that they adopt. The check of a single resource does not see the others. */
export class UrlRegistry {
  private readonly urls = new Map<string, UrlClaim>();
  private readonly adopted = new Map<string, UrlClaim>();

  /** Returns the conflict with another resource, if any. Only pooled resources may share a URL. */
  register(url: unknown, adopt: unknown, claim: UrlClaim): string | undefined {
    const normal = typeof url === "string" ? normalizeUrl(url) : undefined;
    const id = typeof adopt === "string" ? adopt : undefined;
    const byUrl = add(this.urls, normal, claim);
    const byId = add(this.adopted, id, claim);
    if (byId)
      return `${byId.name} adopts ${oneLine(String(adopt), 100)}, too; an endpoint can only belong to one resource, so give the id of another`;
    if (byUrl && !(byUrl.pooled && claim.pooled)) {
      return `the url is also that of ${byUrl.name}; give each endpoint its own, or set poolingEnabled on both`;
    }
    return undefined;
  }
}

/** Returns another owner's claim to the same key, or else stores this one. */
function add(claims: Map<string, UrlClaim>, key: string | undefined, claim: UrlClaim): UrlClaim | undefined {
  if (key === undefined) return undefined;
  const other = claims.get(key);
  if (other !== undefined && other.owner !== claim.owner) return other;
  claims.set(key, claim);
  return undefined;
}
