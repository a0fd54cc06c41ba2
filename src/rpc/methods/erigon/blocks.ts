import { forkSchedule } from "../../../base/params/fork-id.ts";
import { andThen } from "../../../base/threads/maybe-promise.ts";
import { blockSelector, byHash, numberOrTag } from "../../ports/block-selector.ts";
import { boolean, json, lenientInteger, optional, quantityNumber, rawJson, rawJsonOf } from "../../transport/codec.ts";
import { UnknownBlockError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";
import { headerText } from "../eth/blocks.ts";
import { HEADER, orNull } from "../json/schemas.ts";
import { quantityText } from "../json/write.ts";

/** `erigon_forks`: the genesis hash, and the blocks and times (Unix seconds) of the forks after genesis (EIP-2124), ascending. */
export const forks = defineMethod({
  name: "erigon_forks",
  params: {},
  result: json,
  handle: (_params, { chain }) =>
    andThen(chain.header({ at: 0 }), (genesis) => {
      const { blocks, times } = forkSchedule(chain.config, genesis?.header.timestamp ?? 0);
      return { genesis: chain.genesisHash, heightForks: blocks, timeForks: times };
    }),
});

/**
 * `erigon_blockNumber`: number of the newest block, or of the block a tag names.
 *
 * @throws UnknownBlockError
 */
export const blockNumber = defineMethod({
  name: "erigon_blockNumber",
  params: { block: optional(numberOrTag, "latest") },
  example: ["latest"],
  result: quantityNumber,
  handle: ({ block }, { chain }) =>
    andThen(chain.header({ at: block }), (sealed) => {
      if (!sealed) throw new UnknownBlockError("header not found");
      return sealed.header.number;
    }),
});

/** `erigon_getHeaderByNumber`: as `eth_getHeaderByNumber`; also accepts a JSON number. */
export const getHeaderByNumber = defineMethod({
  name: "erigon_getHeaderByNumber",
  params: { block: numberOrTag },
  example: ["latest"],
  result: rawJsonOf(orNull(HEADER)),
  handle: ({ block }, modules) => headerText(block, modules),
});

/** `erigon_getBlockByTimestamp`: the newest block whose timestamp is at most `timestamp` (Unix seconds); null if there is no such block. */
export const getBlockByTimestamp = defineMethod({
  name: "erigon_getBlockByTimestamp",
  params: { timestamp: lenientInteger, isFull: boolean },
  example: [1_700_000_000, false],
  result: rawJson,
  async handle({ timestamp, isFull }, { chain, sessions }) {
    const head = await chain.head();
    let low = -1;
    let high = head.header.number;
    if (head.header.timestamp > timestamp) {
      while (low + 1 < high) {
        const middle = Math.floor((low + high) / 2);
        const sealed = await chain.header({ at: middle });
        if (sealed && sealed.header.timestamp <= timestamp) low = middle;
        else high = middle;
      }
      high = low;
    }
    const executed = high < 0 ? undefined : await chain.block({ at: high });
    return executed ? sessions.blockJson.get(executed, isFull ? "full" : "hashes") : "null";
  },
});

/**
 * `erigon_getBalanceChangesInBlock`: the new balance, in wei, of each account whose balance a block changed, by address. Empty for
 * genesis, which has no state before it.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError, PendingUnavailableError
 */
export const getBalanceChangesInBlock = defineMethod({
  name: "erigon_getBalanceChangesInBlock",
  params: { block: blockSelector },
  example: ["latest"],
  result: rawJson,
  heavy: true,
  async handle({ block }, { chain, inspection }) {
    const sealed = await chain.header({ at: block });
    if (!sealed) throw new UnknownBlockError("header not found");
    const { number, parentHash } = sealed.header;
    if (number === 0) return "{}";
    const at = byHash(sealed.hash);
    const members: string[] = [];
    for (const address of await inspection.modifiedAccounts({ first: number - 1, at })) {
      const before = (await chain.account({ address, at: byHash(parentHash) }))?.balance ?? 0n;
      const after = (await chain.account({ address, at }))?.balance ?? 0n;
      if (before !== after) members.push(`"${address}":${quantityText(after)}`);
    }
    return `{${members.join(",")}}`;
  },
});

/** Go's names, as Erigon encodes the result; of a node without the cache that Erigon's RPC daemon holds of the state. */
const NO_CACHE = {
  RequestCancelled: false,
  Enabled: false,
  LatestStateBehind: false,
  CacheCleared: false,
  LatestStateID: 0,
  StateKeysOutOfSync: null,
  CodeKeysOutOfSync: null,
};

/** `erigon_cacheCheck`: whether Erigon's state cache agrees with the state. This node has no such cache, so `Enabled` is false. */
export const cacheCheck = defineMethod({
  name: "erigon_cacheCheck",
  params: {},
  result: json,
  handle: () => NO_CACHE,
});
