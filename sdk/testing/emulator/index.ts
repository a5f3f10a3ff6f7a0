export type { Behaviour, ReportedTime } from "./behaviour";
export { type Edit, Emulator, type EmulatorOptions } from "./emulator";
export type { RecordedFault } from "./faults";
export { type Fault, type FaultInjectionOptions, type FaultKind, faultKinds, gatewayReply } from "./faults";
export type { KeyOptions } from "./keys";
export type { Cut, Match, ScriptedReply } from "./script";
export type { Seed } from "./seeds";
export type { RateLimit } from "./serviceClock";
