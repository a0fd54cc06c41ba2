import type { CommitInfo, Reply, Request } from "../../../../src/consensus/cometbft/abci/messages.ts";
import { validatorOf } from "../settings.ts";
import { updatesOf } from "../types/chain-state.ts";
import { ValidatorSet } from "../types/validator-set.ts";
import { digitsOf, fromTimestamp } from "../types/vote.ts";

/** A sequence of calls that no honest engine makes, or replies that no application may give, in words. */
export class ContractViolation extends Error {
  override readonly name = "ContractViolation";
}

/** A block as ProcessProposal and FinalizeBlock have it. */
export type BlockRequest = Request<"finalizeBlock">;

type Decided = {
  /** All fields of the block. */
  readonly content: string;
  readonly time: bigint;
  readonly proposer: string;
  appHash: string | undefined;
  updates: string | undefined;
};

const FLAG_ABSENT = 1;
const FLAG_COMMIT = 2;
const FLAG_NIL = 3;

/** What all nodes of a chain must agree on, learned from whichever is first. */
export class ChainFacts {
  initialHeight = 1;
  #genesis: string | undefined;
  #genesisTime: bigint | undefined;
  readonly #decided = new Map<number, Decided>();
  /** The validators that decide a height, in its round 0. */
  readonly #validators = new Map<number, ValidatorSet>();

  /** @throws ContractViolation */
  genesis(request: Request<"initChain">): void {
    const { chainId, time, initialHeight, validators, appStateBytes } = request;
    const text = [
      chainId,
      fromTimestamp(time),
      initialHeight,
      digitsOf(appStateBytes),
      ...validators.map(({ pubKey, power }) => `${digitsOf(pubKey.secp256k1eth!)}:${power}`),
    ].join("/");
    if (this.#genesis !== undefined) expect(this.#genesis === text, "InitChain differs from that of another node");
    else {
      this.#genesis = text;
      this.#genesisTime = fromTimestamp(time);
      this.initialHeight = Number(initialHeight);
      const set = ValidatorSet.of(
        validators.map(({ pubKey, power }) => validatorOf(pubKey.secp256k1eth!, Number(power))),
      );
      this.#validators.set(this.initialHeight, set);
      this.#validators.set(this.initialHeight + 1, set.incremented(1));
    }
  }

  /** undefined if no node has executed the block */
  appHashAt(height: number): string | undefined {
    return this.#decided.get(height)?.appHash;
  }

  /** Addresses of the validators that decide `height`; undefined if no node has executed the block two before it. */
  validatorsAt(height: number): readonly string[] | undefined {
    return this.#validators.get(height)?.validators.map(({ address }) => address);
  }

  /** What is true of every block that an honest engine shows, decided or not. @throws ContractViolation */
  checkBlock(request: BlockRequest): void {
    const height = Number(request.height);
    const time = fromTimestamp(request.time);
    const proposer = digitsOf(request.proposerAddress);
    const set = this.#validators.get(height);
    if (set) expect(set.indexOf(proposer) >= 0, `the proposer of block ${height} is no validator`);
    this.checkTime(height, time);
    const next = this.#validators.get(height + 1);
    if (next) {
      expect(
        next.hash() === digitsOf(request.nextValidatorsHash),
        `block ${height} has another hash of next validators`,
      );
    }
    this.checkLastCommit(height, request.lastCommit);
    this.#checkProposer(height - 1, request.lastCommit.round);
    for (const proof of request.misbehavior) this.#checkMisbehavior(height, proof);
  }

  /** Blocks are later than their parents; the first one has the time of the genesis. @throws ContractViolation */
  checkTime(height: number, time: bigint): void {
    if (height === this.initialHeight) {
      expect(time === (this.#genesisTime ?? time), "the first block has not the time of the genesis");
      return;
    }
    const parent = this.#decided.get(height - 1);
    if (parent) expect(time > parent.time, `block ${height} is not later than its parent`);
  }

  /** @throws ContractViolation */
  checkLastCommit(height: number, { votes }: Pick<CommitInfo, "votes">): void {
    if (height === this.initialHeight) {
      expect(votes.length === 0, "the first block has a last commit");
      return;
    }
    const set = this.#validators.get(height - 1);
    if (set === undefined) return;
    const isSame =
      votes.length === set.size &&
      votes.every(({ validator }, index) => {
        const { address, power } = set.at(index)!;
        return digitsOf(validator.address) === address && Number(validator.power) === power;
      });
    expect(isSame, `the last commit of block ${height} is not that of the validators of ${height - 1}`);
    let power = 0;
    for (const { validator, blockIdFlag } of votes) {
      expect([FLAG_ABSENT, FLAG_COMMIT, FLAG_NIL].includes(blockIdFlag), `a vote has the flag ${blockIdFlag}`);
      if (blockIdFlag === FLAG_COMMIT) power += Number(validator.power);
    }
    expect(set.isQuorum(power), `the last commit of block ${height} has no more than two thirds of the votes`);
  }

  /** All nodes execute the same block of a height. @throws ContractViolation */
  decide(request: BlockRequest): void {
    const height = Number(request.height);
    const content = contentOf(request);
    const known = this.#decided.get(height);
    if (known) expect(known.content === content, `block ${height} differs from that of another node`);
    else {
      const time = fromTimestamp(request.time);
      const proposer = digitsOf(request.proposerAddress);
      this.#decided.set(height, { content, time, proposer, appHash: undefined, updates: undefined });
    }
  }

  /** @throws ContractViolation */
  execute(height: number, reply: Reply<"finalizeBlock">): void {
    const decided = this.#decided.get(height)!;
    const appHash = digitsOf(reply.appHash);
    const changes = updatesOf(reply);
    const updates = JSON.stringify(changes);
    expect((decided.appHash ?? appHash) === appHash, `block ${height} has another app hash than at another node`);
    expect(
      (decided.updates ?? updates) === updates,
      `block ${height} has other validator updates than at another node`,
    );
    if (decided.appHash !== undefined) return;
    decided.appHash = appHash;
    decided.updates = updates;
    const next = this.#validators.get(height + 1)?.copy();
    if (next === undefined || this.#validators.has(height + 2)) return;
    next.update(changes);
    next.increment(1);
    this.#validators.set(height + 2, next);
  }

  /** A block decided in round `round` is by the proposer of that round or of an earlier one. */
  #checkProposer(height: number, round: number): void {
    const set = this.#validators.get(height);
    const decided = this.#decided.get(height);
    if (set === undefined || decided === undefined) return;
    const proposers = Array.from({ length: round + 1 }, (_, each) => set.incremented(each).proposer);
    // `incremented(0)` centers priorities only.
    proposers[0] = set.proposer;
    expect(
      proposers.includes(decided.proposer),
      `block ${height}, of round ${round}, has another proposer than is due`,
    );
  }

  #checkMisbehavior(height: number, proof: BlockRequest["misbehavior"][number]): void {
    const at = Number(proof.height);
    const address = digitsOf(proof.validator.address);
    expect(at < height, `block ${height} has evidence of height ${at}`);
    const set = this.#validators.get(at);
    if (set === undefined) return;
    const isKnown = set.byAddress(address)?.power === Number(proof.validator.power);
    expect(isKnown && Number(proof.totalVotingPower) === set.totalPower, `evidence of ${at} is against no validator`);
    const decided = this.#decided.get(at);
    if (decided) expect(decided.time === fromTimestamp(proof.time), `evidence of ${at} has not the time of its block`);
  }
}

/** @throws ContractViolation */
export function expect(condition: boolean, words: string): asserts condition {
  if (!condition) throw new ContractViolation(words);
}

function contentOf({
  txs,
  lastCommit,
  misbehavior,
  hash,
  time,
  nextValidatorsHash,
  proposerAddress,
}: BlockRequest): string {
  const { round, votes } = lastCommit;
  return [
    digitsOf(hash),
    fromTimestamp(time),
    digitsOf(proposerAddress),
    digitsOf(nextValidatorsHash),
    round,
    votes.map(({ blockIdFlag }) => blockIdFlag).join(""),
    misbehavior.map(({ validator, height }) => `${digitsOf(validator.address)}@${height}`).join(),
    txs.map(digitsOf).join(),
  ].join("/");
}
