import { badReplies, lostCreates, takenUrls } from "./creates";
import { betweenProviders, moves, renames } from "./moves";
import { adoption, markedEndpoints } from "./owners";
import type { Scene } from "./scene";
import { drift, gone, oddReplies, secrets } from "./service";

/** All scenes. */
export const subjects: Record<string, Scene[]> = {
  renames,
  moves,
  "moves between the providers": betweenProviders,
  "taken URLs": takenUrls,
  "lost creates": lostCreates,
  "replies that cannot be read": badReplies,
  adoption,
  marks: markedEndpoints,
  "endpoints that are gone": gone,
  oddReplies,
  drift,
  secrets,
};
