export type { KeyOptions } from "./accounts";
export type { Behaviour, Busy, ToldTime } from "./behaviour";
export type { RateLimit } from "./clock";
export type { DisturbOptions, RecordedFault } from "./disturbance";
export { type Edit, Emulator, type EmulatorOptions, type Seed } from "./emulator";
export { type FaultKind, faultKinds, gatewayReply, type RivalTime, trustFaultKinds } from "./faults";
export type { Cut } from "./reply";
export type { Match, ScriptedReply } from "./script";
