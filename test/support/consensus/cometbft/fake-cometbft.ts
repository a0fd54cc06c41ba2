import { hashFromBigint, hashFromBytes } from "../../../../src/base/primitives/hash.ts";
import type {
  BlockInput,
  BlockResult,
  ChainStart,
  LastCommit,
  Validator,
} from "../../../../src/consensus/application.ts";
import type { CallName, Reply, Request } from "../../../../src/consensus/cometbft/abci/messages.ts";
import { AbciClient } from "./abci-client.ts";
import { blockOf, proposalOf, resultOf, startOf } from "./abci-requests.ts";

/** What CometBFT has on disk: it survives the end of either process. */
export class EngineDisk {
  /** Its block store: decided blocks, the first of height 1. */
  readonly blocks: BlockInput[] = [];
  /** Blocks before it are pruned. */
  base = 1;
  /** Its state: height and app hash of the last block whose result it stored. */
  height = 0;
  appHash: string | undefined;
  /** Results by height, stored before the commit. */
  readonly results = new Map<number, BlockResult>();
}

/**
 * What CometBFT does at each height; after each step either process may end. A block is decided once it is in the block store, its result is stored
 * before the commit, and the state saved after it.
 */
export const STEPS = ["prepared", "processed", "decided", "finalized", "stored", "committed", "saved"] as const;
export type Step = (typeof STEPS)[number];

/** Something over which CometBFT does not start, or stops its consensus. */
class FakeFailure extends Error {}

/** What remains of max_bytes for transactions in CometBFT's blocks with so many validators. */
const MAX_TX_BYTES = (8 << 20) - 637 - 94 - 4 * 3_358;

/**
 * One CometBFT whose validators always agree: four connections in CometBFT's order, each call followed by a flush, the handshake by heights, and
 * blocks. It checks replies as CometBFT does. `calls` lists the calls of consensus, for what must not be called.
 */
export class FakeCometBft {
  readonly calls: CallName[] = [];
  readonly #start: ChainStart;
  readonly #disk: EngineDisk;
  readonly #query: AbciClient;
  readonly #mempool: AbciClient;
  readonly #consensus: AbciClient;
  readonly #connections: readonly AbciClient[];

  private constructor(start: ChainStart, disk: EngineDisk, connections: readonly AbciClient[]) {
    const [query, , mempool, consensus] = connections as [AbciClient, AbciClient, AbciClient, AbciClient];
    this.#start = start;
    this.#disk = disk;
    this.#query = query;
    this.#mempool = mempool;
    this.#consensus = consensus;
    this.#connections = connections;
  }

  /** @throws FakeFailure when the handshake fails */
  static async start(path: string, start: ChainStart, disk: EngineDisk): Promise<FakeCometBft> {
    const connections: AbciClient[] = [];
    for (let i = 0; i < 4; i++) connections.push(await AbciClient.open(path));
    const engine = new FakeCometBft(start, disk, connections);
    try {
      await engine.#handshake();
    } catch (error) {
      await engine.kill();
      throw error;
    }
    return engine;
  }

  /**
   * Proposes, decides and commits the next block.
   * @param until the last step that is done
   * @param edit what the proposer makes of what its application proposed
   * @returns undefined where the proposal was rejected or a step is left out
   */
  async decide(
    until: Step = "saved",
    edit: (input: BlockInput) => BlockInput = (input) => input,
  ): Promise<BlockResult | undefined> {
    const ends = (step: Step) => STEPS.indexOf(until) <= STEPS.indexOf(step);
    const proposal = this.#proposal();
    const { txs } = await this.#call("prepareProposal", {
      ...proposalOf({ ...proposal, maxTxBytes: MAX_TX_BYTES }),
    });
    if (ends("prepared")) return undefined;
    const input = edit({
      ...proposal,
      txs: txs.map((tx) => Uint8Array.from(tx)),
      consensusHash: hashFromBigint(BigInt(proposal.height)),
    });
    const { status } = await this.#call("processProposal", blockOf(input));
    if (status !== 1 || ends("processed")) return undefined;
    this.#disk.blocks.push(input);
    return this.#apply(input, until);
  }

  /** Transactions for peers. */
  async reap(): Promise<readonly Uint8Array[]> {
    const { txs } = await this.#mempool.call("reapTxs", { maxBytes: 0n, maxGas: 0n });
    return txs.map((tx) => Uint8Array.from(tx));
  }

  /** A transaction from a peer. */
  async insert(tx: Uint8Array): Promise<number> {
    return (await this.#mempool.call("insertTx", { tx })).code;
  }

  /** The height the application reports at any time. */
  async appHeight(): Promise<number> {
    return Number((await this.#query.call("info")).lastBlockHeight);
  }

  /** Ends as by SIGKILL: the sockets close. */
  async kill(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.close()));
  }

  /** Validators that decide block `height`: those of the genesis and the updates up to `height - 2`. */
  validatorsAt(height: number): readonly Validator[] {
    const set = new Map(this.#start.validators.map((each) => [each.address, each]));
    for (const [from, { validatorUpdates }] of this.#disk.results) {
      if (from > height - 2) continue;
      for (const update of validatorUpdates) {
        if (update.power === 0) set.delete(update.address);
        else set.set(update.address, update);
      }
    }
    return [...set.values()].sort((a, b) => (a.address < b.address ? -1 : 1));
  }

  async #handshake(): Promise<void> {
    const disk = this.#disk;
    const { lastBlockHeight, lastBlockAppHash } = await this.#query.call("info");
    let height = Number(lastBlockHeight);
    const stored = disk.blocks.length;
    if (height === 0) {
      const { appHash } = await this.#call("initChain", startOf(this.#start));
      disk.appHash ??= hashFromBytes(appHash);
    }
    if (height < disk.base - 1) {
      throw new FakeFailure(`app block height (${height}) is too far below block store base (${disk.base})`);
    }
    if (height > stored) {
      throw new FakeFailure(`app block height (${height}) is higher than core (${stored})`);
    }
    for (; height < stored; height++) await this.#apply(disk.blocks[height]!, "saved");
    if (disk.height < stored) this.#store(stored, disk.results.get(stored)!);
    const { lastBlockAppHash: appHash } = await this.#query.call("info");
    if (stored > 0 && hashFromBytes(appHash) !== disk.appHash) {
      throw new FakeFailure(`app hash of block ${stored} is ${lastBlockAppHash}`);
    }
  }

  /** A decided block: finalized, its result stored, committed. */
  async #apply(input: BlockInput, until: Step): Promise<BlockResult | undefined> {
    const { height } = input;
    const ends = (step: Step) => STEPS.indexOf(until) <= STEPS.indexOf(step);
    if (ends("decided")) return undefined;
    const result = resultOf(await this.#call("finalizeBlock", blockOf(input)));
    this.#check(input, result);
    if (ends("finalized")) return undefined;
    this.#disk.results.set(height, result);
    await this.#mempool.call("flush");
    if (ends("stored")) return undefined;
    await this.#call("commit", {});
    if (ends("committed")) return undefined;
    if (height > this.#disk.height) this.#store(height, result);
    return result;
  }

  #store(height: number, { appHash }: BlockResult): void {
    this.#disk.height = height;
    this.#disk.appHash = appHash;
  }

  /** Contradictions over which CometBFT's consensus ends. */
  #check({ height, txs }: BlockInput, { results, validatorUpdates, appHash }: BlockResult): void {
    if (results.length !== txs.length) throw new FakeFailure("wrong number of results");
    const known = this.#disk.results.get(height);
    if (known !== undefined && known.appHash !== appHash) {
      throw new FakeFailure(`block ${height} has another app hash when it is replayed`);
    }
    const set = new Set(this.validatorsAt(height + 2).map(({ address }) => address));
    for (const { address, power } of validatorUpdates) {
      if (power === 0 && !set.delete(address)) throw new FakeFailure("removes no validator");
      if (power > 0) set.add(address);
    }
    if (set.size === 0) throw new FakeFailure("empty validator set");
  }

  /** The same for every run: seconds repeat, the validators propose in turn, and all have signed the block before. */
  #proposal() {
    const height = this.#disk.blocks.length + 1;
    const validators = this.validatorsAt(height);
    const { time } = this.#start;
    return {
      height,
      time: { seconds: time.seconds + Math.floor((height - 1) / 2), nanos: height * 1_000 },
      proposer: validators[height % validators.length]!.address,
      lastCommit: this.#lastCommit(height - 1),
      misbehavior: [],
    };
  }

  #lastCommit(height: number): LastCommit {
    const signers = height === 0 ? [] : this.validatorsAt(height);
    return {
      round: 0,
      votes: signers.map(({ address, power }) => ({ address, power, flag: "commit" })),
    };
  }

  #call<Name extends CallName>(name: Name, fields: Partial<Request<Name>>): Promise<Reply<Name>> {
    this.calls.push(name);
    return this.#consensus.call(name, fields);
  }
}
