import { addressOfCompressedKey, compressPublicKey } from "../base/crypto/compressed-public-key.ts";
import { invariant, NodeError } from "../base/errors.ts";
import { type Hardfork, hardforkAt, RULES_AT } from "../base/params/hardforks.ts";
import type { Address } from "../base/primitives/address.ts";
import { EMPTY_BYTES } from "../base/primitives/bytes.ts";
import { withFork } from "../chain/agreement/agreed-config.ts";
import { type Agreement, isForkName, type Parameter } from "../chain/agreement/agreement.ts";
import type { Chain } from "../chain/chain.ts";
import { missingRequestContracts } from "../evm/execution/block/system-calls.ts";
import type { StateReader } from "../evm/state/reader.ts";
import { decodeConsensusData } from "./consensus-data.ts";
import { agreementIn } from "./voting/block-effect.ts";
import type { ParameterProposals } from "./voting/parameter-proposals.ts";
import { whyLowGasLimit, whyRefused } from "./voting/parameters.ts";
import type { Proposals } from "./voting/proposals.ts";
import type { Snapshot } from "./voting/snapshot.ts";
import { snapshotIn } from "./voting/snapshot-storage.ts";
import { type StartingSet, soloStartingSet } from "./voting/starting-set.ts";

/** A validator needs a public key, but no transaction of the candidate reveals it. */
class UnknownPublicKeyError extends NodeError {
  readonly code = "CLIQUE_UNKNOWN_PUBLIC_KEY";
  constructor(address: Address) {
    super(
      `the public key of ${address} is unknown: pass the compressed key as third parameter, or let the account send a transaction first`,
      { address },
    );
  }
}

/** The given public key belongs to another address. */
class WrongPublicKeyError extends NodeError {
  readonly code = "CLIQUE_WRONG_PUBLIC_KEY";
  constructor(address: Address) {
    super(`the public key does not belong to ${address}`, { address });
  }
}

/** Nobody can agree on this rule, or this program cannot. */
class ParameterRefusedError extends NodeError {
  readonly code = "CLIQUE_PARAMETER_REFUSED";
  constructor({ name, value }: Parameter, reason: string) {
    super(`${name} ${value}: ${reason}`, { name, value: String(value), reason });
  }
}

/** CometBFT applies validator changes of block H from block H + 2 on. */
const ACTIVATION_BLOCKS = 2;

/** Blocks whose proposers `activity` counts. */
const ACTIVITY_BLOCKS = 64;

type Activity = {
  readonly blocks: number;
  /** Blocks made by the proposer whose turn it was. */
  readonly inTurn: number;
  /** Number of blocks by current validator, and by former ones that made some. */
  readonly proposed: ReadonlyMap<Address, number>;
};

/** The validator sets of all blocks, and this node's votes about them. */
export type Voting = {
  readonly proposals: Proposals;
  readonly parameterProposals: ParameterProposals;
  startingSet(): StartingSet;
  /** The agreement after block `number`, and the votes open then. @throws as `snapshotAt` */
  agreementAt(number: number): Pick<Agreement, "values" | "votes">;
  /**
   * Votes for a rule until the proposal is discarded.
   * @throws ParameterRefusedError, TooManyParameterProposalsError
   */
  proposeParameter(parameter: Parameter): void;
  /** The snapshot after block `number`. @throws BlockPrunedError, StatePrunedError */
  snapshotAt(number: number): Snapshot;
  /**
   * The signers that block `number` added, with the first block that each helps to decide; empty under the solo engine. Undefined if the block
   * has a vote and the state before it is pruned. @throws as `snapshotAt`
   */
  activeFrom(number: number): ReadonlyMap<Address, number> | undefined;
  /** The proposer of block `number`. @throws BlockPrunedError */
  signerOf(number: number): Address;
  /** The proposers of the newest `count` stored blocks up to block `number`, by number. */
  recentSigners(number: number, count: number): ReadonlyMap<number, Address>;
  /** Activity in the newest stored blocks before the head, whose commits are known. */
  activity(): Activity;
  /**
   * Votes to add or remove the validator `candidate` until the proposal is discarded.
   * @param publicKey compressed; looked up if omitted
   * @throws UnknownPublicKeyError, WrongPublicKeyError, TooManyProposalsError
   */
  propose(candidate: Address, authorize: boolean, publicKey?: Uint8Array): void;
};

type VotingModules = {
  readonly chain: Pick<Chain, "config" | "head" | "header" | "stateAt" | "consensusDataOf" | "oldest">;
  readonly proposals: Proposals;
  readonly parameterProposals: ParameterProposals;
  /** Called once. */
  readonly startingSet: () => StartingSet;
};

export function createVoting(modules: VotingModules): Voting {
  const { chain, proposals, parameterProposals } = modules;
  let own: StartingSet | undefined;
  const headNumber = () => chain.head().block.header.number;
  /** Block 0 has no proposer. */
  const firstProposed = () => Math.max(1, chain.oldest().block);

  /** Imported blocks do not name their proposer; a validator is its own fee recipient unless configured otherwise. */
  function signerOf(number: number): Address {
    const { proposer } = decodeConsensusData(chain.consensusDataOf(number)) ?? {};
    const coinbase = chain.header(number)?.coinbase;
    invariant(coinbase !== undefined, `block ${number} must be in the store`);
    return proposer ?? coinbase;
  }

  const startingSet = () => {
    own ??= modules.startingSet();
    return own;
  };

  /** The solo engine made the blocks before a network's first block. */
  function startingSetAt(number: number): StartingSet {
    const set = startingSet();
    const isNetwork = set.initialHeight > 0;
    if (isNetwork ? number >= set.initialHeight - 1 : number === 0) return set;
    return soloStartingSet(signerOf(number));
  }

  const snapshotAt = (number: number) => snapshotIn(chain.stateAt(number), startingSetAt(number), number);

  const agreementAt = (number: number) => agreementIn(chain.stateAt(number), startingSetAt(number), number);

  /** Why the rules of voting, or this program, do not allow it. */
  function whyNotProposed(parameter: Parameter): string | undefined {
    const { number, timestamp, gasLimit } = chain.head().block.header;
    const { name, value } = parameter;
    const refused = whyRefused(agreementAt(number), parameter, { timestamp, config: chain.config });
    if (refused !== undefined || !isForkName(name) || value === 0n) return refused;
    const config = withFork(chain.config, name, Number(value));
    if (config === undefined)
      return "this version does not know the fork, or schedules an earlier fork after that time";
    const hardfork = hardforkAt(config, { number: number + 1, timestamp: Number(value), difficulty: 0n });
    const noContracts = whyNoContracts(chain.stateAt(number), hardfork);
    return noContracts ?? (RULES_AT[hardfork].amsterdam ? whyLowGasLimit(gasLimit) : undefined);
  }

  return {
    proposals,
    parameterProposals,
    startingSet,
    agreementAt,
    proposeParameter(parameter) {
      const reason = whyNotProposed(parameter);
      if (reason !== undefined) throw new ParameterRefusedError(parameter, reason);
      parameterProposals.propose(parameter);
    },
    snapshotAt,
    activeFrom(number) {
      const { initialHeight } = startingSet();
      const isOfNetwork = initialHeight > 0 && number >= initialHeight;
      const data = decodeConsensusData(chain.consensusDataOf(number));
      if (!isOfNetwork || data?.cast === undefined) return new Map();
      if (number - 1 < chain.oldest().state) return undefined;
      const before = new Set(snapshotAt(number - 1).signers.map(({ address }) => address));
      const added = snapshotAt(number).signers.filter(({ address }) => !before.has(address));
      return new Map(added.map(({ address }) => [address, number + ACTIVATION_BLOCKS]));
    },
    signerOf,
    recentSigners(number, count) {
      const recent = new Map<number, Address>();
      for (let block = Math.max(firstProposed(), number - count + 1); block <= number; block++) {
        recent.set(block, signerOf(block));
      }
      return recent;
    },
    activity() {
      const head = headNumber();
      const first = Math.max(firstProposed(), head - ACTIVITY_BLOCKS);
      const { signers } = snapshotAt(head);
      const proposed = new Map<Address, number>(signers.map(({ address }) => [address, 0]));
      let inTurn = 0;
      for (let number = first; number < head; number++) {
        const signer = signerOf(number);
        proposed.set(signer, (proposed.get(signer) ?? 0) + 1);
        const next = decodeConsensusData(chain.consensusDataOf(number + 1));
        if ((next?.parentRound ?? 0) === 0) inTurn++;
      }
      return { blocks: Math.max(0, head - first), inTurn, proposed };
    },
    propose(candidate, authorize, publicKey) {
      if (!authorize) {
        proposals.propose({ candidate, authorize, publicKey: EMPTY_BYTES });
        return;
      }
      if (publicKey === undefined) throw new UnknownPublicKeyError(candidate);
      const compressed = publicKey.length === 33 ? publicKey : compressPublicKey(publicKey);
      if (addressOfCompressedKey(compressed) !== candidate) throw new WrongPublicKeyError(candidate);
      proposals.propose({ candidate, authorize, publicKey: compressed });
    },
  };
}

/** The chain would stop before the fork's first block: each of its blocks calls these contracts. */
function whyNoContracts(state: Pick<StateReader, "account">, hardfork: Hardfork): string | undefined {
  const [missing] = missingRequestContracts(state, hardfork);
  return (
    missing && `the chain has no code at ${missing.address} (${missing.eip}), which each block calls after the fork`
  );
}
