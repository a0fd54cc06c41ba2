import { NodeError } from "../../errors.ts";
import { bytesToHex, type Hex } from "../../primitives/hex.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { StartingSet } from "../clique/starting-set.ts";
import { type ConsensusData, encodeConsensusData } from "../consensus-data.ts";
import { decodeProposerData } from "../proposer-data.ts";
import type { ConsensusDataSource } from "../state-sync/restore.ts";
import { engineBlockOf } from "./block-answer.ts";
import { EngineRpcError } from "./engine-answers.ts";
import { callEngine, type EngineRpcAddress } from "./engine-call.ts";

/** No server of state sync says what the consensus data of a block is, or they contradict each other. */
export class UnknownConsensusDataError extends NodeError {
  readonly code = "ENGINE_CONSENSUS_DATA_UNKNOWN";
}

export type StateSyncServersOptions = {
  readonly servers: readonly EngineRpcAddress[];
  /** Of CometBFT's genesis. */
  readonly chainId: string;
  /** Of the same genesis: with a vote it is part of the consensus data. */
  readonly startingSet: StartingSet;
  /** For the whole answer of a server; 15 s by default. */
  readonly timeoutMs?: number;
};

/** A block of some MiB through a tunnel. CometBFT, whose snapshot waits for it, has no limit of its own there. */
const TIMEOUT_MS = 15_000;
/** A block of 8 MiB in base64, and the signatures of 10,000 validators. */
const ANSWER_BYTES_MAX = 16 << 20;

/**
 * The servers of `cometbft.state-sync-servers` as the source of the consensus data of a block, which no hash in the block covers.
 *
 * CometBFT's light client verifies the signatures of this same header, but has it in memory alone and gives an application the app hash of the
 * next one; its own RPC has no block before the one after the snapshot. So the servers are asked again, and believed where all that answer
 * say the same: the operator chose them, and CometBFT too ends where they contradict each other.
 */
export class StateSyncServers implements ConsensusDataSource {
  readonly #options: StateSyncServersOptions;
  readonly #log: Logger;

  constructor(options: StateSyncServersOptions, log: Logger) {
    this.#options = options;
    this.#log = log;
  }

  /** @throws UnknownConsensusDataError */
  async consensusDataOf(height: number): Promise<ConsensusData> {
    const { servers } = this.#options;
    const answers = await Promise.all(servers.map((server) => this.#ask(server, height)));
    const different = new Map<Hex, ConsensusData>();
    for (const data of answers) {
      if (data !== undefined) different.set(bytesToHex(encodeConsensusData(data)), data);
    }
    const [data, other] = different.values();
    if (data === undefined) {
      throw new UnknownConsensusDataError("no server of state sync has the block", { height });
    }
    if (other !== undefined) {
      throw new UnknownConsensusDataError("the servers of state sync contradict each other", {
        height,
        answers: [...different.values()].map(({ cast, ...fields }) => fields),
      });
    }
    return data;
  }

  /** undefined where the server has no usable answer. */
  async #ask(server: EngineRpcAddress, height: number): Promise<ConsensusData | undefined> {
    const { timeoutMs = TIMEOUT_MS } = this.#options;
    try {
      const call = { method: "block", params: { height: String(height) } };
      const answer = await callEngine(server, call, { timeoutMs, bytesMax: ANSWER_BYTES_MAX });
      return this.#decode(answer, height);
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      this.#log.warn("a state sync server is left out", { server: nameOf(server), height, error });
      return undefined;
    }
  }

  /** @throws EngineRpcError, InvalidProposerDataError */
  #decode(answer: unknown, height: number): ConsensusData {
    const { chainId, startingSet } = this.#options;
    const block = engineBlockOf(answer);
    if (block.chainId !== chainId || block.height !== height) {
      throw new EngineRpcError("CometBFT answers with another block than was asked for", {
        height,
      });
    }
    const { vote } = decodeProposerData(block.txs[0]);
    return {
      consensusHash: block.hash,
      proposer: block.proposer,
      nanos: block.time.nanos,
      parentRound: block.parentRound,
      ...(vote && { cast: { vote, startingSet } }),
    };
  }
}

/** Without user and password. */
function nameOf(server: EngineRpcAddress): string {
  return "url" in server ? server.url.host : server.socketPath;
}
