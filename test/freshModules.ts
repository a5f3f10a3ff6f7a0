import { vi } from "vitest";

/* Test files can share a process, but each loads the modules of this repository again, since they have hooks and state. */
vi.resetModules();
