import { AsyncLocalStorage } from "node:async_hooks";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb";
import { insecure } from "./protocol";

/** What a call is about. The engine shows messages as they arrive, so each waits for the one before it. */
interface Resource {
  urn: string;
  last: Promise<void>;
}

/**
 * Messages to the user, through Pulumi's engine, which shows nothing that a plugin prints. A message carries the resource
 * on whose behalf the provider works.
 */
export class EngineLog {
  private client: EngineClient | undefined;
  private readonly resource = new AsyncLocalStorage<Resource>();
  private readonly underWay = new Set<Promise<void>>();

  /** @param address Where the engine listens. Messages before the first call are dropped. */
  connect(address: string): void {
    this.client?.close();
    this.client = new EngineClient(address, insecure());
  }

  /** Works on behalf of a resource. Resolves when the engine has received every message. */
  async during<T>(urn: string, work: () => Promise<T>): Promise<T> {
    try {
      return await this.resource.run({ urn, last: Promise.resolve() }, work);
    } finally {
      await Promise.all(this.underWay);
    }
  }

  readonly info = (message: string): void => this.send(LogSeverity.INFO, message);
  readonly warn = (message: string): void => this.send(LogSeverity.WARNING, message);
  /** A message about no resource, though one's request may have caused it. */
  readonly general = (message: string): void => this.resource.exit(() => this.info(message));

  private send(severity: LogSeverity, message: string): void {
    const { client } = this;
    if (!client) return;
    const resource = this.resource.getStore();
    const request = new LogRequest();
    request.setSeverity(severity);
    request.setMessage(message);
    request.setUrn(resource?.urn ?? "");
    // An error means that the engine is gone, and with it the user's terminal.
    const log = () => new Promise<void>((resolve) => client.log(request, () => resolve()));
    const received = resource ? resource.last.then(log) : log();
    if (resource) resource.last = received;
    this.underWay.add(received);
    void received.then(() => this.underWay.delete(received));
  }
}
