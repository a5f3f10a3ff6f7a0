import type { IncomingHttpHeaders } from "node:http";
import { base62, newApiKey } from "./random";
import { ServiceError } from "./serviceErrors";
import type { Store } from "./store";

/** A key to accept, and whose it is. */
export interface KeyOptions {
  /** Default: a random one of the service's form. */
  apiKey?: string;
  /** The account that it belongs to, which has endpoints of its own. Default: the one of `emulator.apiKey`. */
  account?: string;
  /** The user or service user that it acts as. Default: the account's owner, as for a key that was rotated. */
  principal?: string;
  /** False: lists are refused with 403. Default: true. */
  mayList?: boolean;
}

export interface Key {
  store: Store;
  principal: string | undefined;
  mayList: boolean;
}

/** Accounts, each with endpoints of its own, and the keys that open them. */
export class Accounts {
  private readonly stores = new Map<string, Store>();
  private readonly keys = new Map<string, Key>();

  constructor(private readonly newStore: (owner: string) => Store) {}

  /** Returns the key. */
  add({ apiKey = newApiKey(), account, principal, mayList = true }: KeyOptions): string {
    this.keys.set(apiKey, { store: this.store(account), principal, mayList });
    return apiKey;
  }

  /** The endpoints of an account. An account that does not exist yet is opened. */
  store(account = ""): Store {
    const store = this.stores.get(account) ?? this.newStore(`usr_${base62()}`);
    this.stores.set(account, store);
    return store;
  }

  /** The account's endpoints that hold this id; undefined if no account has it. */
  holderOf(id: string): Store | undefined {
    return [...this.stores.values()].find((store) => store.get(id));
  }

  /** The endpoints that a request concerns, even if the request will be refused. */
  storeFor({ authorization }: IncomingHttpHeaders): Store {
    return this.keys.get(tokenOf(authorization) ?? "")?.store ?? this.store();
  }

  /** The key of a request. Throws if it has none that is accepted. */
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
