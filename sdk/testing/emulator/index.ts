export type { KeyOptions } from "./accounts";
export type { Behaviour, Busy, ReportedTime } from "./behaviour";
export type { RateLimit } from "./clock";
export type { DisturbOptions, RecordedFault } from "./disturbance";
export { type Edit, Emulator, type EmulatorOptions } from "./emulator";
export { type FaultKind, faultKinds, gatewayReply, type RivalTime, trustFaultKinds } from "./faults";
export type { Cut, Match, ScriptedReply } from "./script";
export type { Seed } from "./store";
