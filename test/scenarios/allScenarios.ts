import { adoption } from "./adoption";
import { adoptSetting } from "./adoptSetting";
import { drift, serviceDefaults } from "./drift";
import { badReplies, lostCreates } from "./lostCreates";
import { betweenProviders, moves, renames } from "./moves";
import { ownEndpoints } from "./ownEndpoints";
import type { Scenario } from "./scenario";
import { secrets } from "./secrets";
import { gone, oddReplies } from "./service";
import { takenUrls } from "./takenUrls";
import { unclearRefusals } from "./unclearRefusals";
import { writes } from "./writes";

/** All scenarios by group, but for `options`, which run as stacks only. */
export const allScenarios: Record<string, Scenario[]> = {
  renames,
  moves,
  "moves between the providers": betweenProviders,
  "taken URLs": takenUrls,
  "lost creates": lostCreates,
  "replies that cannot be read": badReplies,
  adoption,
  "adoptSetting for one run": adoptSetting,
  "a resource's own endpoint": ownEndpoints,
  "unclear refusals": unclearRefusals,
  "endpoints that are gone": gone,
  "odd replies": oddReplies,
  drift,
  "the service's defaults": serviceDefaults,
  secrets,
  "writes that the service ignores or changes": writes,
};
