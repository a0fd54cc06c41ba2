import { NodeError } from "../base/errors.ts";
import type { Logger } from "../base/telemetry/logger.ts";
import { readAgreement } from "../chain/agreement/agreement.ts";
import type { Chain } from "../chain/chain.ts";
import type {
  Application,
  ApplyResult,
  BlockInput,
  BlockResult,
  ChainStart,
  OfferResult,
  Snapshot,
  TxResult,
  Validator,
} from "./application.ts";
import { APP_VERSION, assertSameChain } from "./chain-start.ts";
import { decodeProposerData, type ProposerData } from "./consensus-data.ts";
import { PROPOSER_DATA_RESULT, prevRandaoOf, SKIPPED_RESULT } from "./evm-application.ts";
import type { GossipLimits } from "./gossip-list.ts";
import type { Signer } from "./voting/snapshot.ts";
import { snapshotIn } from "./voting/snapshot-storage.ts";
import type { StartingSet } from "./voting/starting-set.ts";

/** The engine decided a different block than the chain has at this height. */
export class OtherBlockDecidedError extends NodeError {
  readonly code = "CONSENSUS_OTHER_BLOCK";
  constructor(height: number) {
    super(
      `block ${height} of the network differs from this chain's: compare with other nodes; "evmintd rollback --to ${height - 1}" removes it and all later blocks`,
      { height },
    );
  }
}

/** The engine requests blocks that the chain has pruned. */
export class BlocksPrunedError extends NodeError {
  readonly code = "CONSENSUS_BLOCKS_PRUNED";
}

type RecordedBlocksModules = {
  readonly chain: Pick<
    Chain,
    "block" | "header" | "blockHash" | "stateAt" | "oldest" | "head" | "config" | "genesisConfig" | "genesisHash"
  >;
  /** The validators from which votes count. */
  readonly startingSet: () => StartingSet;
  /** Voting power of newly voted-in validators. */
  readonly validatorPower: () => number;
  /** `genesisRules` of the genesis file. */
  readonly rules: string | undefined;
  readonly log: Logger;
};

/**
 * The application as the engine sees it. If the engine's store is lost or older than the chain, the engine fetches the chain's blocks from its
 * peers again. They are answered from the block log, without execution, and nothing is removed. From the head on, calls go to the application
 * itself.
 */
export class RecordedBlocks implements Application {
  readonly #application: Application;
  readonly #modules: RecordedBlocksModules;
  /** The engine's height, while it is below the head. */
  #height: number | undefined;
  #finalized: number | undefined;
  readonly #listeners = new Set<() => void>();

  constructor(application: Application, modules: RecordedBlocksModules) {
    this.#application = application;
    this.#modules = modules;
  }

  /**
   * The engine has `height` blocks.
   * @throws BlocksPrunedError if the chain lacks the required block or state
   */
  begin(height: number): void {
    const { chain, log } = this.#modules;
    const head = chain.head().block.header.number;
    if (height >= head) return;
    const { block, state } = chain.oldest();
    if (height < Math.max(block, state)) {
      throw new BlocksPrunedError(
        `CometBFT has to fetch block ${height + 1} and later ones again, but this chain has pruned block ${height} or its state`,
        { height, block, state },
      );
    }
    this.#height = height;
    this.#finalized = undefined;
    log.warn(
      "the engine's store ends before the chain: the engine fetches the blocks again, and the chain is not changed",
      {
        from: height + 1,
        to: head,
      },
    );
  }

  /** Calls `listener` after each block that the engine received again. @returns unsubscribes */
  onCaughtUp(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The engine's height while it receives blocks that the chain already has. */
  get behind(): { readonly height: number; readonly head: number } | undefined {
    if (this.#height === undefined) return undefined;
    return { height: this.#height, head: this.#modules.chain.head().block.header.number };
  }

  info() {
    if (this.#height === undefined) return this.#application.info();
    return { height: this.#height, appHash: this.#modules.chain.blockHash(this.#height)!, appVersion: APP_VERSION };
  }

  initChain(start: ChainStart) {
    if (this.#height === undefined) return this.#application.initChain(start);
    const { chain } = this.#modules;
    const head = chain.header(this.#height)!;
    const { genesisConfig: config, genesisHash } = chain;
    assertSameChain(start, { config, genesisHash, rules: this.#modules.rules, head });
    return { appHash: chain.blockHash(this.#height)! };
  }

  finalizeBlock(input: BlockInput): BlockResult {
    if (this.#height === undefined) return this.#application.finalizeBlock(input);
    const result = this.#recorded(input);
    this.#finalized = input.height;
    return result;
  }

  commit(): void {
    if (this.#height === undefined) {
      this.#application.commit();
      return;
    }
    this.#height = this.#finalized ?? this.#height;
    const { chain, log } = this.#modules;
    const height = this.#height;
    if (height >= chain.head().block.header.number) {
      log.info("the engine has fetched the blocks of the chain", { height });
      this.#height = undefined;
    }
    this.#finalized = undefined;
    for (const listener of this.#listeners) listener();
  }

  processProposal(input: BlockInput): boolean {
    if (this.#height === undefined) return this.#application.processProposal(input);
    try {
      this.#recorded(input);
      return true;
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      this.#modules.log.warn("proposal of a height that the chain has rejected", { height: input.height, error });
      return false;
    }
  }

  prepareProposal(proposal: Parameters<Application["prepareProposal"]>[0]): Uint8Array[] {
    return this.#application.prepareProposal(proposal);
  }

  checkTx(tx: Uint8Array) {
    return this.#application.checkTx(tx);
  }

  insertTx(tx: Uint8Array) {
    return this.#application.insertTx(tx);
  }

  reapTxs(limits: GossipLimits): Uint8Array[] {
    return this.#application.reapTxs(limits);
  }

  listSnapshots(): readonly Snapshot[] {
    return this.#application.listSnapshots();
  }

  loadSnapshotChunk(height: number, format: number, chunk: number): Uint8Array {
    return this.#application.loadSnapshotChunk(height, format, chunk);
  }

  offerSnapshot(snapshot: Snapshot, appHash: Parameters<Application["offerSnapshot"]>[1]): OfferResult {
    return this.#application.offerSnapshot(snapshot, appHash);
  }

  applySnapshotChunk(index: number, chunk: Uint8Array, sender: string): ApplyResult {
    return this.#application.applySnapshotChunk(index, chunk, sender);
  }

  engineLost(): void {
    this.#finalized = undefined;
    this.#application.engineLost();
  }

  /**
   * The result of executing block `input`, from the block log.
   * @throws OtherBlockDecidedError, InvalidProposerDataError
   */
  #recorded(input: BlockInput): BlockResult {
    const { chain } = this.#modules;
    const { height, txs } = input;
    const parent = chain.header(height - 1);
    const stored = chain.block(height);
    const proposer = decodeProposerData(txs[0]);
    if (parent === undefined || stored === undefined)
      throw new BlocksPrunedError(`block ${height} is pruned`, { height });
    const { block, receipts } = stored;
    const { header, transactions } = block;
    const results: TxResult[] = [PROPOSER_DATA_RESULT];
    let next = 0;
    for (const raw of txs.slice(1)) {
      const tx = transactions[next];
      // A decided block may contain an invalid transaction, which the recorded block omits.
      if (tx === undefined || !Buffer.from(tx.raw).equals(raw)) {
        results.push(SKIPPED_RESULT);
        continue;
      }
      results.push({ code: 0, gasWanted: tx.gasLimit, gasUsed: receipts[next]!.gasUsed });
      next++;
    }
    const isSame =
      next === transactions.length &&
      header.timestamp === input.time.seconds &&
      header.mixHash === prevRandaoOf(parent.mixHash, input) &&
      isOfProposer(header, proposer);
    if (!isSame) throw new OtherBlockDecidedError(height);
    const validatorUpdates = this.#validatorUpdates(height);
    return { appHash: block.hash, results, validatorUpdates, ...this.#evidenceAgeUpdate(height) };
  }

  /** Block `height`'s decision about the age of evidence. */
  #evidenceAgeUpdate(height: number): Pick<BlockResult, "evidenceAgeSeconds"> {
    const { chain } = this.#modules;
    const ageAt = (block: number) =>
      readAgreement(chain.stateAt(block)).values.find(({ name }) => name === "evidenceAgeSeconds")?.value;
    const [before, after] = [ageAt(height - 1), ageAt(height)];
    if (before === after) return {};
    return { evidenceAgeSeconds: after === undefined ? null : Number(after) };
  }

  /** Block `height`'s changes of the validator set. */
  #validatorUpdates(height: number): readonly Validator[] {
    const [before, after] = [this.#signersAt(height - 1), this.#signersAt(height)];
    const power = this.#modules.validatorPower();
    const without = (signers: readonly Signer[], others: readonly Signer[]) =>
      signers.filter(({ address }) => !others.some((other) => other.address === address));
    return [
      ...without(after, before).map((signer) => ({ ...signer, power })),
      ...without(before, after).map((signer) => ({ ...signer, power: 0 })),
    ];
  }

  #signersAt(height: number): readonly Signer[] {
    const { chain, startingSet } = this.#modules;
    return snapshotIn(chain.stateAt(height), startingSet(), height).signers;
  }
}

function isOfProposer(
  header: { readonly coinbase: string; readonly gasLimit: bigint; readonly extraData: Uint8Array },
  { feeRecipient, gasLimit, extraData }: ProposerData,
): boolean {
  return (
    header.coinbase === feeRecipient && header.gasLimit === gasLimit && Buffer.from(header.extraData).equals(extraData)
  );
}
