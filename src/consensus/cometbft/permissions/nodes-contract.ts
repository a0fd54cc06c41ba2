import { NodeError } from "../../../base/errors.ts";
import { type Address, ZERO_ADDRESS } from "../../../base/primitives/address.ts";
import { bytesToBigint, concatBytes } from "../../../base/primitives/bytes.ts";
import { hexToBytes } from "../../../base/primitives/hex.ts";
import { keccak256 } from "../../../base/primitives/keccak.ts";
import type { Logger } from "../../../base/telemetry/logger.ts";
import type { Chain } from "../../../chain/chain.ts";
import { type CallModules, call } from "../../../evm/execution/call/call.ts";

/** A contract's answer about a node; unknown: it does not exist, reverts, needs too much gas, or does not return a bool. */
export type ContractAnswer = "allowed" | "refused" | "unknown";

/** Decides which nodes of a network may connect to each other. */
export type NodesContract = {
  /** @param id 40 hex digits */
  ask(id: string): ContractAnswer;
};

type NodesContractModules = {
  readonly chain: Pick<Chain, "head" | "stateAt" | "blockHash">;
  readonly execution: CallModules;
  readonly log: Logger;
};

/**
 * A mapping behind a proxy takes about 12,000 gas, less than a millisecond; this limit takes a few milliseconds. Each connection of a stranger
 * costs such a call. It has no deadline: on a busy machine, a deadline would refuse the network's own nodes.
 */
const GAS_MAX = 100_000n;

const CONNECTION_ALLOWED = keccak256(Buffer.from("connectionAllowed(bytes20)")).slice(0, 4);
const WORD_BYTES = 32;
const ID_BYTES = 20;

/** The contract of `cometbft.allowed-nodes-contract`, `connectionAllowed(bytes20 id) view returns (bool)`, in the state after the head. */
export class ChainNodesContract implements NodesContract {
  readonly #address: Address;
  readonly #modules: NodesContractModules;
  /** The last logged failure; empty: the last call succeeded. */
  #failure = "";

  constructor(address: Address, modules: NodesContractModules) {
    this.#address = address;
    this.#modules = modules;
  }

  ask(id: string): ContractAnswer {
    try {
      const answer = decodeAnswer(this.#call(id));
      this.#note(answer === "unknown" ? "it does not return a bool" : "");
      return answer;
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      this.#note(error.message);
      return "unknown";
    }
  }

  #call(id: string): Uint8Array {
    const { chain, execution } = this.#modules;
    const { header } = chain.head().block;
    const target = {
      header,
      state: chain.stateAt(header.number),
      blockHash: (number: number) => chain.blockHash(number),
    };
    const data = concatBytes(CONNECTION_ALLOWED, hexToBytes(`0x${id}`), new Uint8Array(WORD_BYTES - ID_BYTES));
    return call({ from: ZERO_ADDRESS, to: this.#address, data, gas: GAS_MAX }, target, execution, {
      returnBytesMax: WORD_BYTES,
    });
  }

  /** Logs each kind of failure once, until a call succeeds again. */
  #note(failure: string): void {
    if (failure === this.#failure) return;
    this.#failure = failure;
    if (failure === "") return;
    this.#modules.log.error(
      "cometbft.allowed-nodes-contract does not answer; refusing the nodes that need its permission",
      {
        contract: this.#address,
        reason: failure,
      },
    );
  }
}

function decodeAnswer(result: Uint8Array): ContractAnswer {
  if (result.length !== WORD_BYTES) return "unknown";
  const value = bytesToBigint(result);
  if (value > 1n) return "unknown";
  return value === 1n ? "allowed" : "refused";
}
