export { type Edit, Emulator, type EmulatorOptions, type Seed } from "./emulator";
export type { Cut } from "./reply";
export type { ScriptedReply } from "./script";
