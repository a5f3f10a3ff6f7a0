export { KitEngine, type KitOptions } from "./engine";
