import { vi } from "vitest";

/* Files that share a process share no module of this repository: these have hooks, and state that a process keeps. */
vi.resetModules();
