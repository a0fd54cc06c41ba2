import type { ClientId, StoredBalance } from "../client-id.ts";
import {
  CapacityExceededError,
  ClientNotConnectedError,
  ClientParameterError,
  PriorityTooLowError,
} from "../errors.ts";
import {
  ClientBalance,
  type ClientPrices,
  connectionPrice,
  DEFAULT_PRICES,
  type PriceFactors,
  requestPrice,
} from "./client-balance.ts";

/** Milliseconds of recharge in a full bucket. */
const BUFFER_MS = 6000;

/** A token bucket of cost units (1 ≈ 1 ns of one thread), filled with `capacity` units per millisecond. */
class CapacityBucket {
  #capacity: number;
  #level: number;
  #updatedMs: number;

  constructor(capacity: number, nowMs: number) {
    this.#capacity = capacity;
    this.#level = capacity * BUFFER_MS;
    this.#updatedMs = nowMs;
  }

  get capacity(): number {
    return this.#capacity;
  }

  setCapacity(capacity: number, nowMs: number): void {
    this.#recharge(nowMs);
    this.#capacity = capacity;
    this.#level = Math.min(this.#level, capacity * BUFFER_MS);
  }

  /**
   * Costs are known only afterwards, so a bucket can go below empty.
   * @param cost negative: returned units
   */
  take(cost: number, nowMs: number): void {
    this.#recharge(nowMs);
    this.#level = Math.min(this.#level - cost, this.#capacity * BUFFER_MS);
  }

  /** Milliseconds until the bucket is no longer below empty. */
  waitMs(nowMs: number): number {
    this.#recharge(nowMs);
    return this.#level >= 0 ? 0 : -this.#level / this.#capacity;
  }

  /** From 0 to 1; negative if it is below empty. */
  fill(nowMs: number): number {
    this.#recharge(nowMs);
    return this.#level / (this.#capacity * BUFFER_MS);
  }

  #recharge(nowMs: number): void {
    const elapsed = Math.max(0, nowMs - this.#updatedMs);
    this.#updatedMs = nowMs;
    this.#level = Math.min(this.#level + elapsed * this.#capacity, this.#capacity * BUFFER_MS);
  }
}

/** geth's capacity of a free client: three of the most expensive requests within the buffer of six seconds. */
export const CAPACITY_MIN = 16_000;
/** geth's limit on light peers. */
const CLIENTS_MAX = 100;
/** Disconnected clients whose debt is remembered; beyond it the oldest are forgotten. Any address can be one. */
const DEBTORS_MAX = 10_000;
/** geth's bias: a connected client is preferred to a newcomer by this time. */
const CONNECTED_BIAS_NS = 180_000_000_000;
/** Maximum wait of a call by a client without capacity; calls that would wait longer are rejected. */
const WAIT_MS_MAX = 1000;
/** A client over HTTP counts as connected until it was silent for this long. */
const HTTP_IDLE_MS = 300_000;
/** Cost units reserved for a running call: a free client can have 32 before its calls wait. */
const RESERVED_MIN = 3_000_000;
/** If running calls are expected to take longer than this at full capacity, clients without balance wait. */
const BACKLOG_MS_MAX = 100;
/** Expected cost of a client's first call: an eighth of a free client's buffer. */
const EXPECTED_FIRST = 12_000_000;
/** A call's expected cost is that of the most expensive recent one, reduced by this factor for each later call. */
const EXPECTED_DECAY = 0.9;
const FREEZE_MS = { min: 700, max: 1300 };
/** A frozen client resumes above this part of its buffer. */
const THAW_FILL = 1 / 8;

type LightClientsOptions = {
  /** Cost units per millisecond of all clients together. */
  readonly totalCapacity: number;
};

/** Clock, and storage of changed balances. */
type LightClientsModules = {
  /** Monotonic, milliseconds with a fraction. */
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly balances: ReadonlyMap<ClientId, StoredBalance>;
  /** Stores balances durably. */
  readonly save: (changes: ReadonlyMap<ClientId, StoredBalance>) => void;
};

/** A client's connection, which is closed if its place is needed. */
export type ClientConnection = { onClose(task: () => void): void; overCapacity(): void };

/** Numbers as `les_serverInfo` shows them. */
export type ServerInfo = {
  readonly minimumCapacity: number;
  readonly maximumCapacity: number;
  readonly freeClientCapacity: number;
  readonly totalCapacity: number;
  readonly totalConnectedCapacity: number;
  readonly priorityConnectedCapacity: number;
};

export type ClientInfo = {
  readonly balance: bigint;
  readonly balanceMeta: string;
  /** undefined: not connected */
  readonly connected:
    | {
        readonly seconds: number;
        readonly capacity: number;
        readonly negativeBalance: bigint;
      }
    | undefined;
};

/** Parameters by their names on the wire. */
export type ClientParameters = Readonly<Record<string, unknown>>;

type Connected = {
  readonly id: ClientId;
  readonly sinceMs: number;
  readonly bucket: CapacityBucket;
  readonly connections: Set<ClientConnection>;
  prices: ClientPrices;
  lastCallMs: number;
  /** The time up to which it has paid. */
  paidMs: number;
  frozenUntilMs: number;
  isFrozen: boolean;
  /** Expected cost units of its next call. */
  expectedCost: number;
};

type Account = { readonly balance: ClientBalance; meta: string };

const NO_BALANCE = { positive: 0n, negative: 0n };

type MutablePrices = {
  -readonly [Sign in keyof ClientPrices]: { -readonly [K in keyof PriceFactors]: number };
};

/**
 * Distributes service: every client has a capacity in cost units per millisecond, and pays for its connection and its calls. Capacities never
 * exceed the server's in sum; otherwise the client of the lowest priority loses its place.
 */
export class LightClients {
  readonly #options: LightClientsOptions;
  readonly #modules: LightClientsModules;
  readonly #accounts = new Map<ClientId, Account>();
  readonly #connected = new Map<ClientId, Connected>();
  #defaultPrices = DEFAULT_PRICES;
  #biasNs = CONNECTED_BIAS_NS;
  readonly #unsaved = new Set<ClientId>();
  /** Cost units reserved for running calls of all clients. */
  #reserved = 0;

  constructor(options: LightClientsOptions, modules: LightClientsModules) {
    this.#options = options;
    this.#modules = modules;
    for (const [id, { positive, meta }] of modules.balances) {
      this.#accounts.set(id, { balance: new ClientBalance(positive), meta });
    }
  }

  /** Whether the operator gave this client a balance or a note. */
  isKnown(id: ClientId): boolean {
    const account = this.#accounts.get(id);
    return account !== undefined && (account.balance.positive > 0n || account.meta !== "");
  }

  /**
   * Milliseconds that a call of the client must wait.
   * @throws CapacityExceededError
   */
  admit(id: ClientId, connection: ClientConnection | undefined): number {
    const now = this.#modules.nowMs();
    const client = this.#connected.get(id) ?? this.#connect(id, now);
    client.lastCallMs = now;
    if (connection !== undefined && !client.connections.has(connection)) {
      client.connections.add(connection);
      connection.onClose(() => {
        client.connections.delete(connection);
      });
    }
    if (client.isFrozen) {
      const isThawed = now >= client.frozenUntilMs && client.bucket.fill(now) > THAW_FILL;
      if (!isThawed) throw new CapacityExceededError(Math.max(1, client.frozenUntilMs - now));
      client.isFrozen = false;
    }
    const isFree = this.#account(id).balance.positive === 0n;
    const waitMs = Math.max(client.bucket.waitMs(now), isFree ? this.#backlogWaitMs() : 0);
    if (waitMs > WAIT_MS_MAX) throw new CapacityExceededError(waitMs);
    return waitMs;
  }

  /**
   * Deducts a call's expected cost, so that running calls count before they end. `charge` returns it.
   * @returns cost units
   */
  reserve(id: ClientId): number {
    const client = this.#connected.get(id);
    if (client === undefined) return 0;
    const reserved = Math.max(RESERVED_MIN, client.expectedCost);
    client.bucket.take(reserved, this.#modules.nowMs());
    this.#reserved += reserved;
    return reserved;
  }

  /** A call of the client took `cost` units; `reserved` of them are already deducted. */
  charge(id: ClientId, cost: number, reserved = 0): void {
    this.#reserved -= reserved;
    const client = this.#connected.get(id);
    if (client === undefined) return;
    const now = this.#modules.nowMs();
    client.bucket.take(cost - reserved, now);
    client.expectedCost = Math.max(cost, client.expectedCost * EXPECTED_DECAY);
    this.#payTime(client, now);
    this.#pay(client, (factors) => requestPrice(factors, BigInt(Math.ceil(cost))));
  }

  /** Higher is served first. */
  priority(id: ClientId): number {
    return this.#priorityOf(id, this.#connected.get(id)?.bucket.capacity ?? CAPACITY_MIN);
  }

  /** Disconnects silent clients and stores changed balances. Call it now and then. */
  sweep(): void {
    const now = this.#modules.nowMs();
    for (const client of this.#connected.values()) {
      this.#payTime(client, now);
      if (client.connections.size === 0 && now - client.lastCallMs > HTTP_IDLE_MS) {
        this.#disconnect(client);
      }
    }
    this.save();
  }

  /** Stores the balances that changed. */
  save(): void {
    if (this.#unsaved.size === 0) return;
    const changes = new Map(Array.from(this.#unsaved, (id) => [id, this.#stored(id)]));
    this.#modules.save(changes);
    this.#unsaved.clear();
  }

  serverInfo(): ServerInfo {
    const { totalCapacity } = this.#options;
    let priorityConnectedCapacity = 0;
    for (const { id, bucket } of this.#connected.values()) {
      if (this.#account(id).balance.positive > 0n) priorityConnectedCapacity += bucket.capacity;
    }
    return {
      minimumCapacity: CAPACITY_MIN,
      maximumCapacity: CAPACITY_MIN * CLIENTS_MAX,
      freeClientCapacity: CAPACITY_MIN,
      totalCapacity,
      totalConnectedCapacity: this.#connectedCapacity(),
      priorityConnectedCapacity,
    };
  }

  /** @param ids empty: all connected clients */
  clientInfo(ids: readonly ClientId[]): readonly (readonly [ClientId, ClientInfo])[] {
    const now = this.#modules.nowMs();
    const wanted = ids.length > 0 ? ids : [...this.#connected.keys()];
    return wanted.map((id) => [id, this.#infoOf(id, now)]);
  }

  /**
   * Clients with a positive balance in the order of their ids, from `start` to before `stop`.
   * @param stop undefined: to the end
   * @returns undefined for the first one beyond `maxCount`
   */
  priorityClientInfo(
    start: ClientId,
    stop: ClientId | undefined,
    maxCount: number,
  ): readonly (readonly [ClientId, ClientInfo | undefined])[] {
    const now = this.#modules.nowMs();
    const ids = [...this.#accounts.keys()]
      .filter((id) => id >= start && (stop === undefined || id < stop))
      .filter((id) => this.#account(id).balance.positive > 0n)
      .sort();
    return ids.slice(0, maxCount + 1).map((id, index) => [id, index < maxCount ? this.#infoOf(id, now) : undefined]);
  }

  /** @throws BalanceOverflowError */
  addBalance(
    id: ClientId,
    amount: bigint,
    meta: string | undefined,
  ): { readonly before: bigint; readonly after: bigint } {
    const client = this.#connected.get(id);
    if (client) this.#payTime(client, this.#modules.nowMs());
    const account = this.#accounts.get(id) ?? { balance: new ClientBalance(), meta: "" };
    const change = account.balance.add(amount);
    this.#accounts.set(id, account);
    if (meta !== undefined) account.meta = meta;
    this.#unsaved.add(id);
    this.save();
    if (client) this.#limitCapacity(client);
    return change;
  }

  /**
   * @param ids empty: all connected clients
   * @throws ClientNotConnectedError, ClientParameterError, PriorityTooLowError
   */
  setClientParameters(ids: readonly ClientId[], parameters: ClientParameters): void {
    for (const id of ids) if (!this.#connected.has(id)) throw new ClientNotConnectedError(id);
    const now = this.#modules.nowMs();
    for (const id of ids.length > 0 ? ids : [...this.#connected.keys()]) {
      const client = this.#connected.get(id);
      if (client === undefined) continue;
      this.#payTime(client, now);
      const { capacity, prices } = readParameters(parameters, client.prices, "client");
      client.prices = prices;
      if (capacity !== undefined) this.#setCapacity(client, capacity, now);
    }
  }

  /** @throws ClientParameterError */
  setDefaultParameters(parameters: ClientParameters): void {
    this.#defaultPrices = readParameters(parameters, this.#defaultPrices, "default").prices;
  }

  /** @param ns by which a connected client is preferred to a newcomer */
  setConnectedBias(ns: number): void {
    this.#biasNs = ns;
  }

  /** @throws ClientNotConnectedError */
  freeze(id: ClientId): void {
    const client = this.#connected.get(id);
    if (client === undefined) throw new ClientNotConnectedError(id);
    const { min, max } = FREEZE_MS;
    client.isFrozen = true;
    client.frozenUntilMs = this.#modules.nowMs() + min + this.#modules.random() * (max - min);
  }

  /** Milliseconds until running calls leave room for a client without balance. */
  #backlogWaitMs(): number {
    return Math.max(0, this.#reserved / this.#options.totalCapacity - BACKLOG_MS_MAX);
  }

  #connect(id: ClientId, now: number): Connected {
    const prices = this.#defaultPrices;
    this.#makeRoom(CAPACITY_MIN, this.#priorityAfterBias(id, CAPACITY_MIN, prices));
    const client: Connected = {
      id,
      sinceMs: now,
      bucket: new CapacityBucket(CAPACITY_MIN, now),
      connections: new Set(),
      prices,
      lastCallMs: now,
      paidMs: now,
      frozenUntilMs: 0,
      isFrozen: false,
      expectedCost: EXPECTED_FIRST,
    };
    this.#connected.set(id, client);
    return client;
  }

  #disconnect(client: Connected): void {
    this.#connected.delete(client.id);
    for (const connection of [...client.connections]) connection.overCapacity();
    this.#forgetDebtors();
  }

  /** Debts are never collected, so the oldest of disconnected clients make room. */
  #forgetDebtors(): void {
    for (const [id, { balance, meta }] of this.#accounts) {
      if (this.#accounts.size <= DEBTORS_MAX) return;
      const isDebtor = balance.positive === 0n && meta === "";
      if (isDebtor && !this.#connected.has(id)) this.#accounts.delete(id);
    }
  }

  /** Disconnects clients below `priority` until `capacity` fits. @throws CapacityExceededError without disconnecting any */
  #makeRoom(capacity: number, priority: number, besides?: Connected): void {
    let used = this.#connectedCapacity() - (besides?.bucket.capacity ?? 0);
    if (used + capacity <= this.#options.totalCapacity) return;
    const others = [...this.#connected.values()].filter((client) => client !== besides);
    const lowestFirst = others
      .map((client) => ({ client, priority: this.priority(client.id) }))
      .sort((a, b) => a.priority - b.priority);
    const leaving: Connected[] = [];
    while (used + capacity > this.#options.totalCapacity) {
      const lowest = lowestFirst.shift();
      if (lowest === undefined || lowest.priority >= priority) {
        throw new CapacityExceededError(WAIT_MS_MAX);
      }
      leaving.push(lowest.client);
      used -= lowest.client.bucket.capacity;
    }
    for (const client of leaving) this.#disconnect(client);
  }

  #connectedCapacity(): number {
    let sum = 0;
    for (const { bucket } of this.#connected.values()) sum += bucket.capacity;
    return sum;
  }

  #setCapacity(client: Connected, capacity: number, now: number): void {
    if (capacity > client.bucket.capacity && capacity > CAPACITY_MIN) {
      if (this.#account(client.id).balance.positive === 0n) throw new PriorityTooLowError();
      try {
        this.#makeRoom(capacity, this.#priorityOf(client.id, capacity), client);
      } catch (error) {
        if (error instanceof CapacityExceededError) throw new PriorityTooLowError();
        throw error;
      }
    }
    client.bucket.setCapacity(capacity, now);
  }

  /** Capacity above the minimum is for clients with a positive balance. */
  #limitCapacity({ id, bucket }: Connected): void {
    if (bucket.capacity > CAPACITY_MIN && this.#account(id).balance.positive === 0n) {
      bucket.setCapacity(CAPACITY_MIN, this.#modules.nowMs());
    }
  }

  #payTime(client: Connected, now: number): void {
    const nanoseconds = BigInt(Math.max(0, Math.round((now - client.paidMs) * 1e6)));
    client.paidMs = now;
    const { capacity } = client.bucket;
    this.#pay(client, (factors) => connectionPrice(factors, capacity, nanoseconds));
  }

  #pay(client: Connected, priceOf: (factors: PriceFactors) => bigint): void {
    const account = this.#account(client.id);
    const hadBalance = account.balance.positive > 0n;
    account.balance.charge(client.prices, priceOf);
    if (!hadBalance) return;
    this.#unsaved.add(client.id);
    this.#limitCapacity(client);
  }

  #account(id: ClientId): Account {
    let account = this.#accounts.get(id);
    if (account === undefined) {
      account = { balance: new ClientBalance(), meta: "" };
      this.#accounts.set(id, account);
    }
    return account;
  }

  #stored(id: ClientId): StoredBalance {
    const { balance, meta } = this.#account(id);
    return { positive: balance.positive, meta };
  }

  #priorityOf(id: ClientId, capacity: number): number {
    const { positive, negative } = this.#accounts.get(id)?.balance ?? NO_BALANCE;
    return positive > 0n ? Number(positive) / capacity : -Number(negative);
  }

  /** Priority of a disconnected client, as if it had been connected for the time of the bias. */
  #priorityAfterBias(id: ClientId, capacity: number, { positive, negative }: ClientPrices): number {
    const balance = this.#accounts.get(id)?.balance ?? NO_BALANCE;
    const price = (factors: PriceFactors) =>
      (factors.timeFactor + (capacity * factors.capacityFactor) / 1e6) * (this.#biasNs / 1e9);
    const left = Number(balance.positive) - price(positive);
    return left > 0 ? left / capacity : -(Number(balance.negative) + price(negative));
  }

  #infoOf(id: ClientId, now: number): ClientInfo {
    const client = this.#connected.get(id);
    if (client) this.#payTime(client, now);
    const account = this.#accounts.get(id);
    return {
      balance: account?.balance.positive ?? 0n,
      balanceMeta: account?.meta ?? "",
      connected: client && {
        seconds: (now - client.sinceMs) / 1000,
        capacity: client.bucket.capacity,
        negativeBalance: account?.balance.negative ?? 0n,
      },
    };
  }
}

const FACTOR_NAMES = ["timeFactor", "capacityFactor", "requestCostFactor"] as const;

/** @throws ClientParameterError with geth's texts */
function readParameters(
  parameters: ClientParameters,
  before: ClientPrices,
  kind: "client" | "default",
): { readonly capacity: number | undefined; readonly prices: ClientPrices } {
  const prices: MutablePrices = {
    positive: { ...before.positive },
    negative: { ...before.negative },
  };
  let capacity: number | undefined;
  for (const [name, value] of Object.entries(parameters)) {
    const factor = FACTOR_NAMES.find((each) => name === `pricing/${each}` || name === `pricing/negative/${each}`);
    const isCapacity = name === "capacity" && kind === "client";
    if (factor === undefined && !isCapacity) {
      throw new ClientParameterError(`invalid ${kind} parameter '${name}'`, { name });
    }
    const isNumber = typeof value === "number" && Number.isFinite(value) && value >= 0;
    const isValid = isNumber && (!isCapacity || (Number.isSafeInteger(value) && value >= CAPACITY_MIN));
    if (!isValid) throw new ClientParameterError(`invalid value for parameter '${name}'`, { name });
    if (factor === undefined) capacity = value;
    else prices[name.includes("/negative/") ? "negative" : "positive"][factor] = value;
  }
  return { capacity, prices };
}
