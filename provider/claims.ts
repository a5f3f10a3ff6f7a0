import { normalizeUrl } from "./url";

interface Claim {
  /** Whose claim it is; a second look at the same resource is no second claim. */
  owner: unknown;
  /** What the user calls the resource. */
  name: string;
  pooled: boolean;
}

/** The URLs that the resources of one run have, since no check of one of them sees another. */
export class Claims {
  private readonly urls = new Map<string, Claim>();

  /** Takes a URL for a resource. Says what is wrong where another has it, unless both share it. */
  take(url: unknown, mine: Claim): string | undefined {
    const normal = typeof url === "string" ? normalizeUrl(url) : undefined;
    if (normal === undefined) return undefined;
    const other = this.urls.get(normal);
    if (other === undefined || other.owner === mine.owner) this.urls.set(normal, mine);
    else if (!(other.pooled && mine.pooled)) {
      return `${normal} is also the url of ${other.name}; give each endpoint its own, or set poolingEnabled on both`;
    }
    return undefined;
  }
}
