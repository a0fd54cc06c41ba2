/**
 * Connections by who holds them: an address, of IPv6 the network of 64 bits that one customer has. Where there are too many, each may hold
 * an equal share of the limit: one address, such as a proxy, may hold all of them while no one else connects.
 */
export class ConnectionShares<Connection> {
  readonly #max: number;
  /** The oldest first. */
  readonly #byHolder = new Map<string, Set<Connection>>();

  constructor(max: number) {
    this.#max = max;
  }

  add(address: string | undefined, connection: Connection): void {
    const holder = holderOf(address);
    const held = this.#byHolder.get(holder);
    if (held === undefined) this.#byHolder.set(holder, new Set([connection]));
    else held.add(connection);
  }

  delete(address: string | undefined, connection: Connection): void {
    const holder = holderOf(address);
    const held = this.#byHolder.get(holder);
    held?.delete(connection);
    if (held?.size === 0) this.#byHolder.delete(holder);
  }

  /** Whether `address` holds more than its share. */
  isExceeded(address: string | undefined): boolean {
    return this.#held(address) > this.#max / this.#byHolder.size;
  }

  /** The oldest closable connection of the address that holds most; undefined if `address` would then exceed its share. */
  replaceableBy(address: string | undefined, mayEnd: (connection: Connection) => boolean): Connection | undefined {
    const own = this.#held(address);
    const holders = this.#byHolder.size + (own === 0 ? 1 : 0);
    if (own + 1 > this.#max / holders) return undefined;
    let most: ReadonlySet<Connection> = new Set();
    for (const held of this.#byHolder.values()) if (held.size > most.size) most = held;
    if (most.size <= own + 1) return undefined;
    for (const connection of most) if (mayEnd(connection)) return connection;
    return undefined;
  }

  #held(address: string | undefined): number {
    return this.#byHolder.get(holderOf(address))?.size ?? 0;
  }
}

const GROUPS_OF_NETWORK = 4;
const GROUPS = 8;

/** The holder of an address: for IPv6 the /64 network that one customer has. */
export function holderOf(address = "unknown"): string {
  if (!address.includes(":") || address.includes(".")) return address.replace(/^::ffff:/i, "");
  const [before = "", after] = address.split("::");
  const groups = before.split(":");
  if (after !== undefined) groups.push(...Array(GROUPS - groups.length - after.split(":").length).fill("0"));
  return groups
    .slice(0, GROUPS_OF_NETWORK)
    .map((group) => group || "0")
    .join(":");
}
