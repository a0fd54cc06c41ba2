import type { Address } from "../primitives/address.ts";
import type { Entry } from "./entry.ts";

/** How many pooled transactions carry an authorization of each account (EIP-7702). */
export class AuthorityCounts {
  readonly #counts = new Map<Address, number>();

  has(address: Address): boolean {
    return this.#counts.has(address);
  }

  add({ authorities }: Entry): void {
    for (const authority of authorities) {
      this.#counts.set(authority, (this.#counts.get(authority) ?? 0) + 1);
    }
  }

  /** Undoes `add` of the same entry. */
  remove({ authorities }: Entry): void {
    for (const authority of authorities) {
      const count = this.#counts.get(authority) ?? 0;
      if (count > 1) this.#counts.set(authority, count - 1);
      else this.#counts.delete(authority);
    }
  }
}
