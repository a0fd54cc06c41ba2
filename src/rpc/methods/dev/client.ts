import { hardforkAt } from "../../../base/params/hardforks.ts";
import { toQuantity } from "../../../base/primitives/quantity.ts";
import { FORK_PAUSE_MS } from "../../../dev/fork/fetch-remote-calls.ts";
import { boolean, json, type ParamCodec } from "../../transport/codec.ts";
import { InvalidValueError } from "../../transport/errors.ts";
import { defineForwardedMethod } from "../define-method.ts";
import { HASH, INTEGER, shape } from "../json/schemas.ts";
import type { ServingPorts } from "../rpc-ports.ts";
import { bothNames, controlMethods, lenientNumber } from "./control-methods.ts";

/** The address of a node of another chain. */
export const remoteUrl: ParamCodec<string> = {
  schema: { title: "url", type: "string", pattern: "^https?://" },
  decode(value, field = "url") {
    if (typeof value === "string" && /^https?:\/\//.test(value) && URL.canParse(value)) {
      return value;
    }
    throw new InvalidValueError(`${field} is not an HTTP URL`);
  },
};

/**
 * `anvil_nodeInfo`: head, rules and fees in anvil's shape. `currentBlockTimestamp` (Unix seconds) and `chainId` are JSON integers, the
 * other numbers QUANTITY; the members of `forkConfig` are null without a fork.
 *
 * @see Foundry book, anvil reference, `anvil_nodeInfo`
 */
export const anvilNodeInfo = defineForwardedMethod({
  name: "anvil_nodeInfo",
  params: {},
  result: json,
  private: true,
  async handle(_params, { chain, node }) {
    const { header, hash } = await chain.head();
    const baseFee = header.baseFeePerGas ?? 0n;
    const { fork, order } = await node.devChain();
    const hardfork = hardforkAt(chain.config, header);
    return {
      currentBlockNumber: toQuantity(header.number),
      currentBlockTimestamp: header.timestamp,
      currentBlockHash: hash,
      hardFork: `${hardfork[0]!.toUpperCase()}${hardfork.slice(1)}`,
      transactionOrder: order,
      environment: {
        baseFee: toQuantity(baseFee),
        chainId: Number(chain.config.chainId),
        gasLimit: toQuantity(header.gasLimit),
        gasPrice: toQuantity(baseFee + (await chain.suggestTip())),
      },
      forkConfig: {
        forkUrl: fork?.url ?? null,
        forkBlockNumber: fork?.number ?? null,
        forkRetryBackoff: fork === undefined ? null : FORK_PAUSE_MS,
      },
    };
  },
});

const METADATA = shape(
  "DevMetadata",
  {
    clientVersion: { type: "string" },
    chainId: INTEGER,
    instanceId: HASH,
    latestBlockNumber: INTEGER,
    latestBlockHash: HASH,
  },
  {
    forkedNetwork: shape("ForkedNetwork", {
      chainId: INTEGER,
      forkBlockNumber: INTEGER,
      forkBlockHash: HASH,
    }),
  },
);

/**
 * `hardhat_metadata`: `{clientVersion, chainId, instanceId, latestBlockNumber, latestBlockHash}`, numbers as JSON integers, and on a fork
 * `forkedNetwork`: `{chainId, forkBlockNumber, forkBlockHash}`. Hardhat Ignition deletes its deployment journal when `instanceId` changes.
 *
 * @see Hardhat Network reference, `hardhat_metadata`
 */
export const hardhatMetadata = defineForwardedMethod({
  name: "hardhat_metadata",
  params: {},
  result: { ...json, schema: METADATA },
  private: true,
  handle: (_params, modules) => metadataOf(modules),
});

async function metadataOf({ chain, node }: ServingPorts) {
  const { hash, header } = await chain.head();
  const { clientVersion } = await node.info();
  const { instanceId, fork } = await node.devChain();
  const chainId = Number(chain.config.chainId);
  return {
    clientVersion,
    chainId,
    instanceId,
    latestBlockNumber: header.number,
    latestBlockHash: hash,
    ...(fork && {
      forkedNetwork: { chainId, forkBlockNumber: fork.number, forkBlockHash: fork.hash },
    }),
  };
}

/** The version whose answers these are. */
const ANVIL_VERSION = "1.7.1";

/**
 * `anvil_metadata`: as `hardhat_metadata`, with null instead of fork data without a fork, the anvil version whose answers these match, and
 * the block number and hash of each snapshot by id.
 */
export const anvilMetadata = defineForwardedMethod({
  name: "anvil_metadata",
  params: {},
  result: json,
  private: true,
  async handle(_params, modules) {
    const snapshots = await modules.dev.snapshots();
    return {
      clientSemver: ANVIL_VERSION,
      clientCommitSha: null,
      forkedNetwork: null,
      ...(await metadataOf(modules)),
      snapshots: Object.fromEntries(snapshots.map(({ id, number, hash }) => [toQuantity(id), [number, hash]])),
    };
  },
});

/** Whether the node logs a line for each transaction. */
export const setLoggingEnabled = controlMethods({
  names: bothNames("setLoggingEnabled"),
  params: { isOn: boolean },
  handle: ({ isOn }, { dev }) => dev.configure({ logging: isOn }),
});

const CHAIN_ID_END = 2n ** 64n;

/** An integer of 64 bits, as a number or in hex. */
const chainIdParam: ParamCodec<bigint> = {
  schema: { type: ["integer", "string"] },
  decode(value, field) {
    const chainId = lenientNumber.decode(value, field);
    if (chainId < CHAIN_ID_END) return chainId;
    throw new InvalidValueError(`${field}: a chain id has 64 bits`);
  },
};

/** Sets the chain id of new blocks, calls and signatures; existing blocks keep theirs. `evm_revert` does not undo this, a reset does. */
export const setChainId = controlMethods({
  names: ["anvil_setChainId"],
  params: { chainId: chainIdParam },
  handle: ({ chainId }, { dev }) => dev.setChainId({ chainId }),
});

/**
 * Replaces the nodes that serve the forked chain.
 *
 * @throws DevControlError where nothing is forked, or the node has another chain: anvil answers null; ForkRemoteError
 */
export const setRpcUrl = controlMethods({
  // viem calls it by the name of its mode.
  names: bothNames("setRpcUrl"),
  params: { url: remoteUrl },
  handle: ({ url }, { dev }) => dev.setForkUrl({ url }),
});
