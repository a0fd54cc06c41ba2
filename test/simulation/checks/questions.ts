import { hexToBytes } from "../../../src/base/primitives/hex.ts";
import { keccak256 } from "../../../src/base/primitives/keccak.ts";
import { decodeRlp } from "../../../src/base/primitives/rlp.ts";
import { verifyProof } from "../../../src/store/trie/proof.ts";
import type { Random } from "../kernel/random.ts";
import type { Cluster } from "../scenario/cluster.ts";
import { FORK_PROBE, LEDGER, RELAY } from "../workload/contracts.ts";
import { USERS } from "../workload/user-keys.ts";
import type { Ledger } from "./ledger.ts";
import {
  assertEqual,
  factsOf,
  type LogJson,
  type Model,
  ModelDisagreement,
  type ModelState,
  text,
  word,
} from "./model.ts";

/** Milliseconds between two questions. */
const ASK_MS = 1_500;
/** Questions are about one of so many newest blocks, mostly. */
const RECENT_BLOCKS = 30;

type Question = {
  readonly method: string;
  readonly params: readonly unknown[];
  /** @throws ModelDisagreement */
  readonly check: (result: unknown) => void;
};

/** Asks random nodes about old and new blocks, and compares what they answer with the model. */
export class Questioner {
  readonly #cluster: Cluster;
  readonly #ledger: Ledger;
  readonly #random: Random;

  constructor(cluster: Cluster, ledger: Ledger) {
    this.#cluster = cluster;
    this.#ledger = ledger;
    this.#random = cluster.simulation.random.stream("questions");
    this.#ask();
  }

  #ask(): void {
    const { simulation, nodes } = this.#cluster;
    simulation.after(ASK_MS, undefined, () => {
      this.#ask();
      const { model } = this.#ledger;
      if (model.head < 1) return;
      const node = this.#random.pick(nodes);
      const oldest = this.#random.chance(0.8) ? Math.max(1, model.head - RECENT_BLOCKS) : 1;
      const number = this.#random.integer(oldest, model.head);
      const { method, params, check } = this.#draw(model, number);
      const { rewinds } = this.#ledger;
      this.#cluster.call(node, { method, params }, (answer) => {
        // It has not got the block yet, or no longer.
        if (answer.kind !== "result" || this.#ledger.rewinds !== rewinds) return;
        try {
          check(answer.result);
        } catch (error) {
          if (!(error instanceof ModelDisagreement)) throw error;
          const question = `${method} ${text(params)}`;
          simulation.violate("answers", `node-${node.index} answers ${question} at block ${number}: ${error.message}`);
        }
      });
    });
  }

  #draw(model: Model, number: number): Question {
    const random = this.#random;
    const state = model.at(number)!;
    const at = `0x${number.toString(16)}`;
    const { address } = random.pick(USERS);
    const count = BigInt(state.counts.get(address) ?? 0);
    const slot = word(BigInt(address));
    const relayed = BigInt(state.counts.get(RELAY.address) ?? 0);
    switch (random.below(6)) {
      case 0:
        return balanceQuestion(state, random.chance(0.5) ? address : state.miner);
      case 1:
        return {
          method: "eth_getTransactionCount",
          params: [address, at],
          check: (result) => assertEqual(Number(result), state.nonces.get(address) ?? 0, "nonce"),
        };
      case 2:
        return {
          method: "eth_getStorageAt",
          params: [LEDGER.address, slot, at],
          check: (result) => assertEqual(result, word(count), "count"),
        };
      case 3:
        return {
          method: "eth_call",
          params: [{ to: FORK_PROBE.address, gas: "0x10000" }, at],
          check: (result) => assertEqual(result, model.probe(number), "answer of the probe"),
        };
      case 4:
        return logsQuestion(model, random.integer(Math.max(1, number - 20), number), number, address);
      default:
        return {
          method: "eth_getProof",
          params: [LEDGER.address, [slot, word(0n), word(BigInt(RELAY.address))], at],
          check: (result) => checkProof(result as ProofJson, state.stateRoot, [count, BigInt(state.total), relayed]),
        };
    }
  }
}

/** @param address of a user, or of one who earns tips */
function balanceQuestion({ number, balances }: ModelState, address: string): Question {
  return {
    method: "eth_getBalance",
    params: [address, `0x${number.toString(16)}`],
    check: (result) => assertEqual(BigInt(result as string), balances.get(address) ?? 0n, "balance"),
  };
}

function logsQuestion(model: Model, from: number, to: number, address: string): Question {
  const topic = word(BigInt(address));
  const filter = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}`, topics: [topic] };
  return {
    method: "eth_getLogs",
    params: [{ ...filter, address: LEDGER.address }],
    check(result) {
      const expected: LogJson[] = [];
      for (let number = from; number <= to; number++) expected.push(...model.at(number)!.logs);
      const own = expected.filter(({ topics }) => topics[0] === topic);
      assertEqual(text((result as LogJson[]).map(factsOf)), text(own.map(factsOf)), "logs");
    },
  };
}

type ProofJson = {
  readonly accountProof: readonly string[];
  readonly storageProof: readonly { readonly key: string; readonly value: string; readonly proof: readonly string[] }[];
};

/** The proof leads from the state root of the block to the values of the model. */
function checkProof({ accountProof, storageProof }: ProofJson, stateRoot: string, values: readonly bigint[]): void {
  const account = verifyProof(
    hexToBytes(stateRoot),
    keccak256(hexToBytes(LEDGER.address)),
    accountProof.map(hexToBytes),
  );
  if (account === undefined) throw new ModelDisagreement("the proof has no account");
  const storageRoot = (decodeRlp(account) as Uint8Array[])[2]!;
  for (const [index, { key, value, proof }] of storageProof.entries()) {
    const expected = values[index]!;
    assertEqual(BigInt(value), expected, `proven slot ${key}`);
    const proven = verifyProof(storageRoot, keccak256(hexToBytes(key)), proof.map(hexToBytes));
    const bytes = proven === undefined ? "0x0" : `0x${Buffer.from(decodeRlp(proven) as Uint8Array).toString("hex")}`;
    assertEqual(BigInt(bytes), expected, `slot ${key} in the trie`);
  }
}
