import { AsyncLocalStorage } from "node:async_hooks";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb";
import { insecure } from "./protocol";

/**
 * Words for the user, through Pulumi's engine: what a plugin prints is shown to nobody. They are told with the resource
 * on whose behalf the provider works.
 */
export class EngineLog {
  private client: EngineClient | undefined;
  private readonly resource = new AsyncLocalStorage<string>();
  private readonly underWay = new Set<Promise<void>>();

  /** Where the engine listens; nothing can be said before it is known. */
  connect(address: string): void {
    this.client?.close();
    this.client = new EngineClient(address, insecure());
  }

  /** Does work on behalf of a resource; resolves when all that was said meanwhile has been heard. */
  async during<T>(urn: string, work: () => Promise<T>): Promise<T> {
    try {
      return await this.resource.run(urn, work);
    } finally {
      await Promise.all(this.underWay);
    }
  }

  info(message: string): void {
    this.log(LogSeverity.INFO, message);
  }

  /** Words that are about no resource, though one's request may have brought them up. */
  general(message: string): void {
    this.resource.exit(() => this.info(message));
  }

  warn(message: string): void {
    this.log(LogSeverity.WARNING, message);
  }

  private log(severity: LogSeverity, message: string): void {
    const { client } = this;
    if (!client) return;
    const request = new LogRequest();
    request.setSeverity(severity);
    request.setMessage(message);
    request.setUrn(this.resource.getStore() ?? "");
    // An engine that cannot be told any more is gone, and has nobody to tell.
    const told = new Promise<void>((resolve) => client.log(request, () => resolve()));
    this.underWay.add(told);
    void told.then(() => this.underWay.delete(told));
  }
}
