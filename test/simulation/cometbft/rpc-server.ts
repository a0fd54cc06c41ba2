import type { Consensus } from "./consensus/consensus.ts";
import type { BlockStore } from "./disk/block-store.ts";
import type { StateStore } from "./disk/state-store.ts";
import type { NodeInfo } from "./messages.ts";
import type { Peers } from "./peers.ts";
import type { Keys } from "./settings.ts";
import { BLOCK_PROTOCOL, type Block } from "./types/block.ts";
import type { DuplicateVotes } from "./types/evidence.ts";
import { type BlockId, type Commit, timeText, type Vote } from "./types/vote.ts";
import type { VoteSet } from "./types/vote-set.ts";
import type { HttpHandler } from "./world.ts";

/** A call that cannot be answered: JSON-RPC error -32603. */
class RpcError extends Error {}

type Params = Readonly<Record<string, unknown>>;

/** The parts of a running node, or of a stopped one's files, that its RPC shows. */
type RpcModules = {
  readonly blocks: BlockStore;
  readonly states: StateStore;
  readonly keys: Keys;
  readonly info: NodeInfo;
  /** undefined for the files of a stopped node. */
  readonly running?: {
    readonly peers: Peers;
    readonly consensus: Consensus;
    readonly isCatchingUp: () => boolean;
    /** Milliseconds since 1970. */
    readonly now: () => number;
  };
};

const MAX_PER_PAGE = 100;
const DEFAULT_PER_PAGE = 30;

/** The part of CometBFT's JSON-RPC that Evmint, its tests and light clients ask for; 64-bit integers are strings. */
export class RpcServer {
  readonly #modules: RpcModules;
  readonly #methods: Readonly<Record<string, (params: Params) => unknown>> = {
    status: () => this.#status(),
    health: () => ({}),
    net_info: () => this.#netInfo(),
    consensus_state: () => this.#consensusState(),
    blockchain: () => ({ last_height: String(this.#modules.blocks.height), block_metas: [] }),
    block: (params) => this.#block(params),
    commit: (params) => this.#commit(params),
    validators: (params) => this.#validators(params),
    consensus_params: (params) => this.#consensusParams(params),
    dial_peers: (params) => this.#dialPeers(params),
  };

  constructor(modules: RpcModules) {
    this.#modules = modules;
  }

  readonly handle: HttpHandler = async ({ method, path, body }) => {
    const call =
      method === "POST" ? (JSON.parse(body) as { method: string; params?: Params; id?: unknown }) : callOfPath(path);
    const { id = -1 } = call as { id?: unknown };
    const answer = this.#answer(call.method, call.params ?? {});
    return { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id, ...answer }) };
  };

  #answer(name: string, params: Params): object {
    const method = this.#methods[name];
    if (method === undefined) return { error: { code: -32601, message: "Method not found", data: "" } };
    try {
      return { result: method(params) };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return { error: { code: -32603, message: "Internal error", data: error.message } };
    }
  }

  #status(): object {
    const { blocks, states, keys, info, running } = this.#modules;
    const newest = blocks.block(blocks.height);
    const oldest = blocks.block(blocks.base);
    const validators = states.load()?.validators;
    return {
      node_info: nodeInfoOf(info),
      sync_info: {
        latest_block_hash: newest?.hash.toUpperCase() ?? "",
        latest_app_hash: newest?.header.appHash.toUpperCase() ?? "",
        latest_block_height: String(blocks.height),
        latest_block_time: timeText(newest?.header.time ?? 0n),
        earliest_block_hash: oldest?.hash.toUpperCase() ?? "",
        earliest_block_height: String(blocks.base),
        earliest_block_time: timeText(oldest?.header.time ?? 0n),
        catching_up: running?.isCatchingUp() ?? false,
      },
      validator_info: {
        address: keys.validator.address.toUpperCase(),
        pub_key: publicKeyOf(keys.validator.publicKey),
        voting_power: String(validators?.byAddress(keys.validator.address)?.power ?? 0),
      },
    };
  }

  #netInfo(): object {
    const { peers, now } = this.#running();
    const connected = [...peers.connected].map(({ info, isOutbound, since }) => ({
      node_info: nodeInfoOf(info),
      is_outbound: isOutbound,
      connection_status: { Duration: String(Math.round((now() - since) * 1e6)) },
      remote_ip: info.listen.replace(/^tcp:\/\//, "").replace(/:\d+$/, ""),
    }));
    return { listening: true, listeners: [], n_peers: String(connected.length), peers: connected };
  }

  #consensusState(): object {
    const { height, round, step, startTime, votes, validators, proposalBlock, lockedBlock, validBlock } =
      this.#running().consensus.roundState;
    return {
      round_state: {
        "height/round/step": `${height}/${round}/${step}`,
        start_time: new Date(startTime).toISOString(),
        proposal_block_hash: proposalBlock?.hash.toUpperCase() ?? "",
        locked_block_hash: lockedBlock?.hash.toUpperCase() ?? "",
        valid_block_hash: validBlock?.hash.toUpperCase() ?? "",
        height_vote_set: [...votes.rounds]
          .sort(([a], [b]) => a - b)
          .map(([each, { prevote, precommit }]) => ({
            round: each,
            prevotes: voteTextsOf(prevote),
            prevotes_bit_array: bitArrayOf(prevote),
            precommits: voteTextsOf(precommit),
            precommits_bit_array: bitArrayOf(precommit),
          })),
        proposer: { address: validators.proposer.toUpperCase(), index: validators.indexOf(validators.proposer) },
      },
    };
  }

  #block(params: Params): object {
    const block = this.#blockAt(params);
    return { block_id: blockIdOf(block.id), block: blockOf(block) };
  }

  #commit(params: Params): object {
    const block = this.#blockAt(params);
    const { blocks } = this.#modules;
    const commit = blocks.commit(block.height)!;
    return {
      signed_header: { header: headerOf(block), commit: commitOf(commit) },
      canonical: block.height < blocks.height,
    };
  }

  #validators(params: Params): object {
    const height = this.#heightOf(params);
    const set = this.#modules.states.validatorsAt(height);
    if (set === undefined) throw new RpcError(`could not find validator set for height #${height}`);
    const perPage = Math.min(MAX_PER_PAGE, Number(params["per_page"] ?? DEFAULT_PER_PAGE));
    const first = (Number(params["page"] ?? 1) - 1) * perPage;
    const page = set.validators.slice(first, first + perPage);
    return {
      block_height: String(height),
      validators: page.map(({ address, publicKey, power, priority }) => ({
        address: address.toUpperCase(),
        pub_key: publicKeyOf(publicKey),
        voting_power: String(power),
        proposer_priority: String(priority),
      })),
      count: String(page.length),
      total: String(set.size),
    };
  }

  #consensusParams(params: Params): object {
    const { params: own } = this.#modules.states.load()!;
    return {
      block_height: String(this.#heightOf(params)),
      consensus_params: {
        block: { max_bytes: String(own.maxBytes), max_gas: String(own.maxGas) },
        evidence: {
          max_age_num_blocks: String(own.evidenceAgeBlocks),
          max_age_duration: String(own.evidenceAgeNanos),
          max_bytes: String(own.evidenceBytesMax),
        },
        validator: { pub_key_types: own.publicKeyTypes },
        version: { app: String(own.appVersion) },
        abci: { vote_extensions_enable_height: "0" },
      },
    };
  }

  #dialPeers({ peers, persistent }: Params): object {
    if (!Array.isArray(peers) || peers.length === 0) throw new RpcError("no peers provided");
    for (const address of peers as readonly string[]) this.#running().peers.dial(address, persistent === true);
    return { log: "Dialing peers in progress. See /net_info for details" };
  }

  #running(): NonNullable<RpcModules["running"]> {
    const { running } = this.#modules;
    if (running === undefined) throw new RpcError("the node does not run");
    return running;
  }

  #blockAt(params: Params): Block {
    const height = this.#heightOf(params);
    const { blocks } = this.#modules;
    if (height > blocks.height) {
      throw new RpcError(
        `height ${height} must be less than or equal to the current blockchain height ${blocks.height}`,
      );
    }
    const block = blocks.block(height);
    if (block === undefined) throw new RpcError(`height ${height} is not available, lowest height is ${blocks.base}`);
    return block;
  }

  #heightOf({ height }: Params): number {
    return height === undefined || height === null
      ? this.#modules.blocks.height
      : Number(String(height).replace(/"/g, ""));
  }
}

function callOfPath(path: string): { readonly method: string; readonly params: Params } {
  const { pathname, searchParams } = new URL(path, "http://engine");
  return { method: pathname.slice(1), params: Object.fromEntries(searchParams) };
}

function nodeInfoOf({ id, listen, network, version, moniker }: NodeInfo): object {
  return {
    protocol_version: { p2p: "8", block: String(BLOCK_PROTOCOL), app: "1" },
    id,
    listen_addr: listen,
    network,
    version,
    channels: "40202122233038606100",
    moniker,
    other: { tx_index: "off", rpc_address: "unix://rpc.sock" },
  };
}

function publicKeyOf(digits: string): object {
  return { type: "tendermint/PubKeySecp256k1eth", value: Buffer.from(digits, "hex").toString("base64") };
}

/** Such as `BA{4:xx_x} 30/40 = 0.75`. */
/** Votes as Go prints them, without hashes, which are not read. */
function voteTextsOf(votes: VoteSet): readonly string[] {
  const texts = votes.validators.validators.map(() => "nil-Vote");
  for (const { index, address, height, round, type, time } of votes.votes) {
    const kind = type === "prevote" ? "Prevote" : "Precommit";
    const position = `${height}/${String(round).padStart(2, "0")}/SIGNED_MSG_TYPE_${kind.toUpperCase()}(${kind})`;
    texts[index] =
      `Vote{${index}:${address.slice(0, 12).toUpperCase()} ${position} 000000000000 000000000000 000000000000 @ ${timeText(time)}}`;
  }
  return texts;
}

function bitArrayOf(votes: VoteSet): string {
  const { validators, power } = votes;
  const marks = validators.validators.map((_, index) => (votes.has(index) ? "x" : "_")).join("");
  const share = (power / validators.totalPower).toFixed(2);
  return `BA{${validators.size}:${marks}} ${power}/${validators.totalPower} = ${share}`;
}

function blockIdOf(id: BlockId | undefined): object {
  const { hash, parts } = id ?? { hash: "", parts: { total: 0, hash: "" } };
  return { hash: hash.toUpperCase(), parts: { total: parts.total, hash: parts.hash.toUpperCase() } };
}

function headerOf({ header }: Block): object {
  return {
    version: { block: String(BLOCK_PROTOCOL), app: String(header.appVersion) },
    chain_id: header.chainId,
    height: String(header.height),
    time: timeText(header.time),
    last_block_id: blockIdOf(header.lastBlockId),
    last_commit_hash: header.lastCommitHash.toUpperCase(),
    data_hash: header.dataHash.toUpperCase(),
    validators_hash: header.validatorsHash.toUpperCase(),
    next_validators_hash: header.nextValidatorsHash.toUpperCase(),
    consensus_hash: header.consensusHash.toUpperCase(),
    app_hash: header.appHash.toUpperCase(),
    last_results_hash: header.lastResultsHash.toUpperCase(),
    evidence_hash: header.evidenceHash.toUpperCase(),
    proposer_address: header.proposer.toUpperCase(),
  };
}

function commitOf({ height, round, blockId, signatures }: Commit): object {
  return {
    height: String(height),
    round,
    block_id: blockIdOf(blockId),
    signatures: signatures.map(({ flag, address, time, signature }) => ({
      block_id_flag: flag,
      validator_address: address.toUpperCase(),
      timestamp: timeText(time),
      signature: signature === "" ? null : Buffer.from(signature, "hex").toString("base64"),
    })),
  };
}

function voteOf({ type, height, round, blockId, time, address, index, signature }: Vote): object {
  return {
    type: type === "prevote" ? 1 : 2,
    height: String(height),
    round,
    block_id: blockIdOf(blockId),
    timestamp: timeText(time),
    validator_address: address.toUpperCase(),
    validator_index: index,
    signature: Buffer.from(signature, "hex").toString("base64"),
  };
}

function evidenceOf({ a, b, totalPower, power, time }: DuplicateVotes): object {
  return {
    type: "tendermint/DuplicateVoteEvidence",
    value: {
      vote_a: voteOf(a),
      vote_b: voteOf(b),
      TotalVotingPower: String(totalPower),
      ValidatorPower: String(power),
      Timestamp: timeText(time),
    },
  };
}

function blockOf(block: Block): object {
  return {
    header: headerOf(block),
    data: { txs: block.txs.map((tx) => Buffer.from(tx).toString("base64")) },
    evidence: { evidence: block.evidence.map(evidenceOf) },
    last_commit: commitOf(block.lastCommit),
  };
}
