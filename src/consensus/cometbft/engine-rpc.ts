import type { LightBlock } from "../light-block.ts";
import {
  type EnginePeer,
  type EngineRound,
  EngineRpcError,
  type EngineStatus,
  objectOf,
  peersOf,
  roundOf,
  statusOf,
  storeHeightOf,
} from "./engine-answers.ts";
import { callEngine } from "./engine-call.ts";
import { type CommitAnswer, lightBlockOf, type ValidatorsAnswer } from "./light-block-answers.ts";

/** What this node asks CometBFT's RPC for: what ABCI does not tell. */
export type EngineRpc = {
  status(): Promise<EngineStatus>;
  peers(): Promise<readonly EnginePeer[]>;
  round(): Promise<EngineRound>;
  /** Height of the newest block in its store; also of a store that `cometbft inspect` serves. */
  storeHeight(): Promise<number>;
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

/** @param socket path of CometBFT's RPC, a unix socket */
export function createEngineRpc(socket: string): EngineRpc {
  const limits = { timeoutMs: TIMEOUT_MS, bytesMax: ANSWER_BYTES_MAX };
  const call = (method: string, params: object = {}) =>
    callEngine({ socketPath: socket }, { method, params }, limits);

  /** All validators of a height, page by page. */
  async function validatorsAt(height: string): Promise<ValidatorsAnswer["validators"]> {
    const validators: ValidatorsAnswer["validators"][number][] = [];
    for (let page = 1; page <= VALIDATOR_PAGES_MAX; page++) {
      const position = { page: String(page), per_page: String(VALIDATORS_PER_PAGE) };
      const answer = objectOf(await call("validators", { height, ...position }));
      const { validators: found, total } = answer as ValidatorsAnswer;
      if (!Array.isArray(found) || found.length === 0) break;
      validators.push(...found);
      if (validators.length >= Number(total)) return validators;
    }
    throw new EngineRpcError("CometBFT does not answer with all validators", { height });
  }

  return {
    async lightBlock(number) {
      if (statusOf(await call("status")).latestHeight < number) return undefined;
      const height = String(number);
      const [commit, validators] = await Promise.all([
        call("commit", { height }),
        validatorsAt(height),
      ]);
      try {
        return lightBlockOf(commit as CommitAnswer, validators);
      } catch (cause) {
        throw new EngineRpcError("CometBFT's light block is malformed", { height }, { cause });
      }
    },
    status: async () => statusOf(await call("status")),
    peers: async () => peersOf(await call("net_info")),
    round: async () => roundOf(await call("consensus_state")),
    storeHeight: async () => storeHeightOf(await call("blockchain")),
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
