import { request } from "node:http";
import { NodeError } from "../../errors.ts";
import type { ConsensusStep } from "../engine.ts";
import type { LightBlock } from "../light-block.ts";
import { type CommitAnswer, lightBlockOf, type ValidatorsAnswer } from "./light-block-answers.ts";

/** CometBFT's own RPC does not answer, or answers with an error. */
export class EngineRpcError extends NodeError {
  readonly code = "ENGINE_RPC";
}

/** A connected peer as CometBFT reports it. */
export type EnginePeer = {
  /** 40 hex digits */
  readonly id: string;
  readonly moniker: string;
  readonly version: string;
  readonly network: string;
  readonly listenAddress: string;
  readonly remoteIp: string;
  readonly isOutbound: boolean;
  readonly connectedForNanos: bigint;
};

export type EngineStatus = {
  readonly nodeId: string;
  readonly moniker: string;
  readonly network: string;
  readonly listenAddress: string;
  readonly isCatchingUp: boolean;
  readonly latestHeight: number;
  /** CometBFT's hash of that block, 64 upper-case hex digits. */
  readonly latestHash: string;
  /** 40 upper-case hex digits */
  readonly validatorAddress: string;
  readonly votingPower: number;
};

/** What this node asks CometBFT's RPC for: what ABCI does not tell. */
export type EngineRpc = {
  status(): Promise<EngineStatus>;
  peers(): Promise<readonly EnginePeer[]>;
  step(): Promise<ConsensusStep>;
  /** undefined until `height` is decided. @throws EngineRpcError for a height that CometBFT has not or no longer */
  lightBlock(height: number): Promise<LightBlock | undefined>;
  /** Connects to `id@host:port`, until CometBFT restarts: again whenever the connection is lost, or beyond the number of peers. */
  dial(peer: string, kind: "persistent" | "unconditional"): Promise<void>;
};

/** A peer that does not answer in this time is not up: it runs on this machine. */
const TIMEOUT_MS = 3_000;
/** What CometBFT puts on a page at most. */
const VALIDATORS_PER_PAGE = 100;
/** CometBFT allows 10,000 validators. */
const VALIDATOR_PAGES_MAX = 100;
/** An answer of CometBFT about peers and status takes some kilobytes. */
const ANSWER_BYTES_MAX = 8 << 20;

/** @param address `tcp://host:port` or `unix:///path`, as in CometBFT's configuration */
export function createEngineRpc(address: string): EngineRpc {
  async function call(method: string, params: object = {}): Promise<Record<string, unknown>> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    let answer: { result?: Record<string, unknown>; error?: { message: string; data?: string } };
    try {
      answer = JSON.parse(await post(address, body));
    } catch (cause) {
      throw new EngineRpcError(`CometBFT does not answer ${method}`, { method }, { cause });
    }
    if (answer.error) {
      const { message, data } = answer.error;
      throw new EngineRpcError(`CometBFT: ${data || message}`, { method });
    }
    return answer.result ?? {};
  }

  /** All validators of a height, page by page. */
  async function validatorsAt(height: string): Promise<ValidatorsAnswer["validators"]> {
    const validators: ValidatorsAnswer["validators"][number][] = [];
    for (let page = 1; page <= VALIDATOR_PAGES_MAX; page++) {
      const position = { page: String(page), per_page: String(VALIDATORS_PER_PAGE) };
      const answer = (await call("validators", { height, ...position })) as ValidatorsAnswer;
      validators.push(...answer.validators);
      if (validators.length >= Number(answer.total)) return validators;
    }
    throw new EngineRpcError("CometBFT has more validators than it allows", { height });
  }

  async function latestHeight(): Promise<number> {
    const { sync_info } = (await call("status")) as StatusAnswer;
    return Number(sync_info.latest_block_height);
  }

  return {
    async lightBlock(number) {
      if ((await latestHeight()) < number) return undefined;
      const height = String(number);
      const [commit, validators] = await Promise.all([
        call("commit", { height }),
        validatorsAt(height),
      ]);
      return lightBlockOf(commit as CommitAnswer, validators);
    },
    async status() {
      const { node_info, sync_info, validator_info } = (await call("status")) as StatusAnswer;
      return {
        nodeId: node_info.id,
        moniker: node_info.moniker,
        network: node_info.network,
        listenAddress: node_info.listen_addr,
        isCatchingUp: sync_info.catching_up,
        latestHeight: Number(sync_info.latest_block_height),
        latestHash: sync_info.latest_block_hash,
        validatorAddress: validator_info.address,
        votingPower: Number(validator_info.voting_power),
      };
    },
    async peers() {
      const { peers } = (await call("net_info")) as PeersAnswer;
      return peers.map((peer) => ({
        id: peer.node_info.id,
        moniker: peer.node_info.moniker,
        version: peer.node_info.version,
        network: peer.node_info.network,
        listenAddress: peer.node_info.listen_addr,
        remoteIp: peer.remote_ip,
        isOutbound: peer.is_outbound,
        connectedForNanos: BigInt(peer.connection_status.Duration),
      }));
    },
    async step() {
      const { round_state } = (await call("consensus_state")) as ConsensusStateAnswer;
      const [height, round, step] = round_state["height/round/step"].split("/").map(Number);
      return { height: height!, round: round!, step: step! };
    },
    async dial(peer, kind) {
      await call("dial_peers", {
        peers: [peer],
        persistent: kind === "persistent",
        unconditional: kind === "unconditional",
        private: false,
      });
    },
  };
}

type NodeInfoAnswer = {
  readonly id: string;
  readonly moniker: string;
  readonly version: string;
  readonly network: string;
  readonly listen_addr: string;
};
type StatusAnswer = {
  readonly node_info: NodeInfoAnswer;
  readonly sync_info: {
    readonly catching_up: boolean;
    readonly latest_block_height: string;
    readonly latest_block_hash: string;
  };
  readonly validator_info: { readonly address: string; readonly voting_power: string };
};
type ConsensusStateAnswer = { readonly round_state: { readonly "height/round/step": string } };
type PeersAnswer = {
  readonly peers: readonly {
    readonly node_info: NodeInfoAnswer;
    readonly remote_ip: string;
    readonly is_outbound: boolean;
    readonly connection_status: { readonly Duration: string };
  }[];
};

function post(address: string, body: string): Promise<string> {
  const url = new URL(address);
  const target =
    url.protocol === "unix:"
      ? { socketPath: url.pathname }
      : { host: url.hostname, port: Number(url.port) };
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        ...target,
        method: "POST",
        path: "/",
        headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
        timeout: TIMEOUT_MS,
      },
      (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > ANSWER_BYTES_MAX) outgoing.destroy(new Error("answer is too large"));
          else chunks.push(chunk);
        });
        response.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
        response.on("error", reject);
      },
    );
    outgoing.on("timeout", () => outgoing.destroy(new Error("timeout")));
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}
