export { type Edit, Emulator, type EmulatorOptions, type Seed } from "./emulator";
export type { ScriptedReply } from "./script";
