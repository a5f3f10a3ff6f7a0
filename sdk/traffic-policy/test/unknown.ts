/* The text that stands in tests for a value that is not known yet. */

export const UNKNOWN = "(unknown)";

export const isUnknown = (value: unknown) => typeof value === "string" && value.includes(UNKNOWN);
