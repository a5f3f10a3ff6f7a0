import type { Readable } from "node:stream";

/* Requests and replies, as policies see and change them. */

/** A header as it was sent. */
export type Header = readonly [name: string, value: string];

export interface PolicyRequest {
  method: string;
  /** The whole URL, as the client wrote it. */
  url: string;
  headers: Header[];
  /** Headers that the service adds for the application. */
  added?: readonly Header[];
  body: Buffer;
  /** Aborted when the client leaves. */
  signal?: AbortSignal;
}

export interface PolicyReply {
  /** 0 for a reply that is not known. */
  status: number;
  headers: Header[];
  /** `unknown`: the service chooses the text. */
  body: Buffer | Readable | "unknown";
}
