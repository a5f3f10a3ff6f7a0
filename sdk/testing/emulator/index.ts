export type { Behaviour, Busy, ReportedTime } from "./behaviour";
export { type Edit, Emulator, type EmulatorOptions } from "./emulator";
export type { DisturbOptions, RecordedFault } from "./faults";
export { type FaultKind, faultKinds, gatewayReply, type RivalTime, trustFaultKinds } from "./faults";
export type { KeyOptions } from "./keys";
export type { Cut, Match, ScriptedReply } from "./script";
export type { Seed } from "./seeds";
export type { RateLimit } from "./serviceClock";
