import { type Address, checksumAddress } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { Chain } from "../../chain/chain.ts";
import { type Contract, Contracts } from "../../dev/artifacts/contracts.ts";
import { CONSOLE_ADDRESS } from "../../dev/console-log.ts";
import { CREATE2_DEPLOYER, PREDEPLOYS } from "../config/predeploys.ts";

/** Codes whose comparison with the artifacts is remembered; the full map is cleared. */
const CODES_MAX = 10_000;

/** Names of addresses, functions, events and errors, from a project's artifacts, standards, and the fixed accounts and contracts of dev chains. */
export class ProjectNames {
  readonly contracts: Contracts;
  readonly #chain: Pick<Chain, "stateAt" | "head">;
  readonly #fixed = new Map<Address, string>();
  readonly #byCodeHash = new Map<Hash, Contract | undefined>();

  /** @param contracts undefined without artifacts */
  constructor(
    contracts: Contracts | undefined,
    modules: {
      readonly chain: Pick<Chain, "stateAt" | "head">;
      readonly accounts: readonly { readonly address: Address }[];
    },
  ) {
    this.contracts = contracts ?? new Contracts();
    this.#chain = modules.chain;
    for (const [index, { address }] of modules.accounts.entries()) this.#fixed.set(address, `account ${index}`);
    for (const { name, accounts } of PREDEPLOYS) this.#fixed.set(accounts[0]!.address, name);
    this.#fixed.set(CREATE2_DEPLOYER.address as Address, "create2-deployer");
    this.#fixed.set(CONSOLE_ADDRESS, "console");
  }

  /** The artifacts' contract whose code an account has after block `number`. */
  contractAt(address: Address, number = this.#chain.head().block.header.number): Contract | undefined {
    if (this.contracts.size === 0) return undefined;
    const state = this.#chain.stateAt(number);
    const codeHash = state.account(address)?.codeHash;
    if (codeHash === undefined) return undefined;
    if (!this.#byCodeHash.has(codeHash)) {
      if (this.#byCodeHash.size >= CODES_MAX) this.#byCodeHash.clear();
      this.#byCodeHash.set(codeHash, this.contracts.withRuntime(state.code(codeHash)));
    }
    return this.#byCodeHash.get(codeHash);
  }

  /** Names on every dev chain: `account 0`, `multicall3`. */
  fixedName(address: Address): string | undefined {
    return this.#fixed.get(address);
  }

  /** `0xf39F… (account 0)`, in checksum form, with its name if it has one. */
  addressText(address: Address, number?: number): string {
    const name = this.#fixed.get(address) ?? this.contractAt(address, number)?.name;
    return `${checksumAddress(address)}${name === undefined ? "" : ` (${name})`}`;
  }
}
