import { normalizeUrl } from "./url";

interface Claim {
  /** Whose claim it is; a second look at the same resource is no second claim. */
  owner: unknown;
  /** What the user calls the resource. */
  name: string;
  pooled: boolean;
}

/** What the resources of one run have: URLs, and ids that they adopt. No check of one of them sees another. */
export class Claims {
  private readonly urls = new Map<string, Claim>();
  private readonly adopted = new Map<string, Claim>();

  /** Takes a URL, and an id to adopt, for a resource. Says what is wrong where another has it, unless both share the URL. */
  take(url: unknown, adopt: unknown, mine: Claim): string | undefined {
    const normal = typeof url === "string" ? normalizeUrl(url) : undefined;
    const id = typeof adopt === "string" ? adopt : undefined;
    const byUrl = takeFrom(this.urls, normal, mine);
    const byId = takeFrom(this.adopted, id, mine);
    if (byId) return `${byId.name} adopts ${id}, too; an endpoint can be one resource's only`;
    if (byUrl && !(byUrl.pooled && mine.pooled)) {
      return `the url is also that of ${byUrl.name}; give each endpoint its own, or set poolingEnabled on both`;
    }
    return undefined;
  }
}

/** Another resource's claim on the same key; undefined where there was none, and it is mine now. */
function takeFrom(claims: Map<string, Claim>, key: string | undefined, mine: Claim): Claim | undefined {
  if (key === undefined) return undefined;
  const other = claims.get(key);
  if (other !== undefined && other.owner !== mine.owner) return other;
  claims.set(key, mine);
  return undefined;
}
