import type { Readable } from "node:stream";

/** A header with the spelling in which it was sent. */
export type Header = readonly [name: string, value: string];

export interface PolicyRequest {
  method: string;
  /** The whole URL, as the client wrote it. */
  url: string;
  headers: Header[];
  /** Headers that the service adds when it forwards to the application. */
  added?: readonly Header[];
  body: Buffer;
  /** Aborted when the client disconnects. */
  signal?: AbortSignal;
}

export interface PolicyReply {
  /** 0 if the reply is not known, because the policy forwards to an endpoint that is not known here. */
  status: number;
  headers: Header[];
  /** `unknown` for a text that only the service knows. */
  body: Buffer | Readable | "unknown";
}
