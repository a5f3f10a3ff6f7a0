import type { IncomingHttpHeaders } from "node:http";
import { base62 } from "./random";
import { ServiceError } from "./serviceErrors";
import type { Store } from "./store";

export interface KeyOptions {
  /** The key. Default: a random key in the service's format. */
  apiKey?: string;
  /** The key's account. Each account has its own endpoints. Default: the account of `emulator.apiKey`. */
  account?: string;
  /** Whether the key may list endpoints. Without this permission a list gets 403. Default: true. */
  mayList?: boolean;
}

/** The account of an API key, and its permission. */
export interface Key {
  store: Store;
  mayList: boolean;
}

/** The accounts of the service, and the API keys that belong to them. */
export class ServiceAccounts {
  private readonly stores = new Map<string, Store>();
  private readonly keys = new Map<string, Key>();

  constructor(private readonly newStore: () => Store) {}

  add({ apiKey = `${base62(27)}_${base62(21)}`, account, mayList = true }: KeyOptions): string {
    this.keys.set(apiKey, { store: this.store(account), mayList });
    return apiKey;
  }

  store(account = ""): Store {
    const store = this.stores.get(account) ?? this.newStore();
    this.stores.set(account, store);
    return store;
  }

  /** The endpoints of the account that has this id. Undefined if no account has it. */
  holderOf(id: string): Store | undefined {
    return [...this.stores.values()].find((store) => store.get(id));
  }

  /** @throws ServiceError if the request has no valid key. */
  keyOf({ authorization: header }: IncomingHttpHeaders): Key {
    if (!header) throw new ServiceError(200);
    const sent = tokenOf(header);
    if (!sent) throw new ServiceError(201, header);
    const key = this.keys.get(sent);
    if (key) return key;
    if (sent.startsWith("ak_")) throw new ServiceError(208, sent);
    throw /^[A-Za-z0-9]+_[A-Za-z0-9]+$/.test(sent) ? new ServiceError(203) : new ServiceError(202, sent);
  }
}

const tokenOf = (header = "") => /^Bearer +(\S+)$/i.exec(header)?.[1];
