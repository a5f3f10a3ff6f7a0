import { AsyncLocalStorage } from "node:async_hooks";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb";
import { insecure } from "../pulumi/grpc";
import { withoutKeys } from "../service/redaction";

/** The URN of a call's resource. All logs share it, because on Node 20 each one slows every asynchronous step of the process. */
const current = new AsyncLocalStorage<string>();

/**
 * Messages to the user, through Pulumi's engine, because it does not show a plugin's output. A message carries the URN of the
 * resource that the call is about.
 */
export class EngineLog {
  /** The engine's address; empty until it is known. */
  address = "";
  private client: EngineClient | undefined;
  private readonly warned = new Set<string>();
  /** The engine shows messages as they arrive, so each waits for the one before it. */
  private last: Promise<void> = Promise.resolve();

  /** The URN of the current call's resource; empty if it is about none. */
  get urn(): string {
    return current.getStore() ?? "";
  }

  /** Messages before the first call are dropped. */
  connect(address: string): void {
    this.address = address;
    this.client?.close();
    this.client = new EngineClient(address, insecure());
  }

  /** Does the work for a resource. Resolves when the engine has received every message. */
  async during<T>(urn: string, work: () => Promise<T>): Promise<T> {
    try {
      return await current.run(urn, work);
    } finally {
      await this.last;
    }
  }

  readonly info = (message: string): void => this.send(LogSeverity.INFO, message);
  /** The engine checks a resource again before it replaces it, and calls of functions have no URN to tell them apart. */
  readonly warn = (message: string): void => {
    const warning = `${this.urn} ${message}`;
    if (!this.warned.has(warning)) this.send(LogSeverity.WARNING, message);
    this.warned.add(warning);
  };
  /** A log for messages that are not about the resource. */
  readonly general = (message: string): void => this.send(LogSeverity.INFO, message, "");

  private send(severity: LogSeverity, message: string, urn = this.urn): void {
    const { client } = this;
    if (!client) return;
    const request = new LogRequest().setSeverity(severity).setMessage(withoutKeys(message)).setUrn(urn);
    // An error means that the engine is gone, so nobody can see the message.
    const log = () => new Promise<void>((resolve) => client.log(request, () => resolve()));
    this.last = this.last.then(log);
  }
}
