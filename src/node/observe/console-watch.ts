import type { Hash } from "../../base/primitives/hash.ts";
import type { BlockCommitted } from "../../chain/reader.ts";
import { mayPrint } from "../../dev/console-log.ts";
import type { StateReader } from "../../evm/state/reader.ts";

/** Codes whose inspection is remembered; the full set is cleared. */
const CODES_MAX = 10_000;

/**
 * Finds blocks that may print with `console.log` of Hardhat and forge-std. It inspects code only, so that a chain without such contracts pays
 * nothing more.
 */
export class ConsoleWatch {
  /** A contract that prints was deployed, so any transaction may call it through others. */
  #isAnyDeployed = false;
  readonly #known = new Map<Hash, boolean>();

  /** Whether a transaction of the block may print. */
  mayPrint({ executed, changes }: BlockCommitted, stateAfter: StateReader): boolean {
    for (const code of changes.codes.values()) this.#isAnyDeployed ||= mayPrint(code);
    this.#isAnyDeployed ||= executed.block.transactions.some(({ to, data }) => {
      const account = to === null ? undefined : stateAfter.account(to);
      return to === null ? mayPrint(data) : account && this.#prints(account.codeHash, stateAfter);
    });
    return this.#isAnyDeployed;
  }

  #prints(codeHash: Hash, state: StateReader): boolean {
    let prints = this.#known.get(codeHash);
    if (prints === undefined) {
      if (this.#known.size >= CODES_MAX) this.#known.clear();
      prints = mayPrint(state.code(codeHash));
      this.#known.set(codeHash, prints);
    }
    return prints;
  }
}
