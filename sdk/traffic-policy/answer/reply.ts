import type { PolicyReply } from "./messages";
import type { TracedRule } from "./trace";

/** A reply whose whole body has been received. */
interface ReceivedReply extends PolicyReply {
  body: Buffer | "unknown";
}

/** The body of a reply whose text only the service knows. To read it fails. */
const unknownText = (status: number) =>
  new ReadableStream({
    pull: () => {
      throw new Error(`the text of this ${status} is not simulated; only the service knows it`);
    },
  });

/**
 * The reply of an endpoint, with what its policy did.
 *
 * ```ts
 * const reply = await account.fetch("https://shop.example.com");
 * expect(reply.headers.get("location")).toBe("https://www.example.com/");
 * expect(reply.trace[0]?.outcome).toBe("matched");
 * ```
 */
export class EndpointReply extends Response {
  /** The rules in order, also those that were not reached. */
  readonly trace: readonly TracedRule[];

  constructor({ status, headers, body }: ReceivedReply, trace: readonly TracedRule[]) {
    const isEmpty = body.length === 0 || [204, 205, 304].includes(status);
    super(isEmpty ? null : body === "unknown" ? unknownText(status) : new Uint8Array(body), {
      status,
      headers: headers.map(([name, value]) => [name, value]),
    });
    this.trace = trace;
  }
}
