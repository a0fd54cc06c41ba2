import { blobParamsAt } from "../../params/blob-schedule.ts";
import type { ChainConfig } from "../../params/chain-config.ts";
import { ELASTICITY_MULTIPLIER, nextBaseFee, nextExcessBlobGas } from "../../params/fees.ts";
import {
  BLOCK_GAS_LIMIT_BOUND_DIVISOR,
  BLOCK_GAS_LIMIT_MIN,
  GAS_PER_BLOB,
} from "../../params/gas.ts";
import { hardforkAt, isPostMerge } from "../../params/hardfork-at.ts";
import { type Hardfork, isAtLeast } from "../../params/hardforks.ts";
import { EMPTY_UNCLES_HASH } from "../../types/constants.ts";
import type { Header } from "../../types/header.ts";
import { type InvalidBlockCode, InvalidBlockError } from "../errors.ts";
import { nextDifficulty } from "./difficulty.ts";

const EXTRA_DATA_SIZE_MAX = 32;
const GAS_LIMIT_MAX = 2n ** 63n - 1n;

type HeaderRules = {
  /** A chain with several blocks a second repeats timestamps; Ethereum's never do. */
  readonly isEqualTimeAllowed?: boolean;
  /** Gas limit and base fee were set by hand, so the parent says nothing about them. */
  readonly areFeesForced?: boolean;
};

/**
 * Checks a header against its parent, in geth's order: every rule that needs neither body nor execution.
 * Of a proof-of-work block everything is checked but the seal itself (nonce and mixHash).
 * @throws InvalidBlockError
 */
export function validateHeader(
  header: Header,
  parent: Header,
  config: ChainConfig,
  { isEqualTimeAllowed = false, areFeesForced = false }: HeaderRules = {},
): void {
  const isProofOfStake = isPostMerge(config, header);
  const hardfork = hardforkAt(config, header);
  checkExtraData(header);
  if (isProofOfStake) checkNoProofOfWork(header);
  const isLater = header.timestamp > parent.timestamp;
  if (!isLater && !(isEqualTimeAllowed && header.timestamp === parent.timestamp)) {
    const text = isProofOfStake ? "invalid timestamp" : "timestamp older than parent";
    throw new InvalidBlockError("BLOCK_INVALID_BLOCK_TIMESTAMP_OLDER_THAN_PARENT", text, {
      timestamp: header.timestamp,
      parentTimestamp: parent.timestamp,
    });
  }
  checkDifficulty(header, parent, config);
  checkGas(header);
  if (header.number !== parent.number + 1)
    reject("BLOCK_INVALID_BLOCK_NUMBER", "invalid block number");
  const isLondon = isAtLeast(hardfork, "london");
  const parentIsLondon = isAtLeast(hardforkAt(config, parent), "london");
  // At the first London block the limit doubles, so that the target stays where the limit was.
  const before =
    isLondon && !parentIsLondon ? parent.gasLimit * ELASTICITY_MULTIPLIER : parent.gasLimit;
  if (!areFeesForced) {
    checkGasLimit(header.gasLimit, before);
    checkBaseFee(header, parent, isLondon);
  }
  checkPresence(header, "withdrawalsRoot", isAtLeast(hardfork, "shanghai"));
  checkBlobGas(header, parent, config, hardfork);
  checkPresence(header, "requestsHash", isAtLeast(hardfork, "prague"));
}

/** The gas limit moves by less than 1/1024 of the parent's and never below 5000. */
export function checkGasLimit(gasLimit: bigint, parentGasLimit: bigint): void {
  const bound = parentGasLimit / BLOCK_GAS_LIMIT_BOUND_DIVISOR;
  const difference =
    gasLimit > parentGasLimit ? gasLimit - parentGasLimit : parentGasLimit - gasLimit;
  if (difference >= bound) {
    reject(
      "BLOCK_INVALID_GASLIMIT",
      `invalid gas limit: have ${gasLimit}, want ${parentGasLimit} +/- ${bound - 1n}`,
    );
  }
  if (gasLimit < BLOCK_GAS_LIMIT_MIN) {
    reject("BLOCK_INVALID_GASLIMIT", `invalid gas limit below ${BLOCK_GAS_LIMIT_MIN}`);
  }
}

function reject(code: InvalidBlockCode, message: string): never {
  throw new InvalidBlockError(code, message);
}

function checkExtraData({ extraData }: Header): void {
  if (extraData.length > EXTRA_DATA_SIZE_MAX) {
    reject(
      "BLOCK_EXTRA_DATA_TOO_BIG",
      `extra-data longer than ${EXTRA_DATA_SIZE_MAX} bytes (${extraData.length})`,
    );
  }
}

/** EIP-3675 */
function checkNoProofOfWork({ nonce, sha3Uncles }: Header): void {
  if (nonce.some((byte) => byte !== 0)) reject("BLOCK_INVALID_NONCE", "invalid nonce");
  if (sha3Uncles !== EMPTY_UNCLES_HASH) {
    reject("BLOCK_IMPORT_IMPOSSIBLE_UNCLES_OVER_PARIS", "invalid uncle hash");
  }
}

function checkDifficulty(header: Header, parent: Header, config: ChainConfig): void {
  const want =
    isPostMerge(config, header) && config.terminalTotalDifficulty !== undefined
      ? 0n
      : nextDifficulty(header.timestamp, parent, config);
  if (header.difficulty !== want) {
    reject(
      "BLOCK_INVALID_DIFFICULTY",
      `invalid difficulty: have ${header.difficulty}, want ${want}`,
    );
  }
}

function checkGas({ gasLimit, gasUsed }: Header): void {
  if (gasLimit > GAS_LIMIT_MAX) {
    reject("BLOCK_INVALID_GASLIMIT", `invalid gasLimit: have ${gasLimit}, max ${GAS_LIMIT_MAX}`);
  }
  if (gasUsed > gasLimit) {
    reject("BLOCK_GAS_USED_OVERFLOW", `invalid gasUsed: have ${gasUsed}, gasLimit ${gasLimit}`);
  }
}

/** EIP-1559 */
function checkBaseFee(header: Header, parent: Header, isLondon: boolean): void {
  checkPresence(header, "baseFeePerGas", isLondon);
  if (!isLondon) return;
  const want = nextBaseFee(parent);
  if (header.baseFeePerGas !== want) {
    reject(
      "BLOCK_INVALID_BASEFEE_PER_GAS",
      `invalid baseFee: have ${header.baseFeePerGas}, want ${want}, parentBaseFee ${parent.baseFeePerGas ?? 0n}, parentGasUsed ${parent.gasUsed}`,
    );
  }
}

/** EIP-4844, EIP-4788 */
function checkBlobGas(
  header: Header,
  parent: Header,
  config: ChainConfig,
  hardfork: Hardfork,
): void {
  const isCancun = isAtLeast(hardfork, "cancun");
  for (const field of ["blobGasUsed", "excessBlobGas", "parentBeaconBlockRoot"] as const) {
    checkPresence(header, field, isCancun);
  }
  const params = blobParamsAt(config, header.timestamp);
  if (!isCancun || params === undefined) return;
  const { blobGasUsed = 0n, excessBlobGas } = header;
  const max = BigInt(params.max) * GAS_PER_BLOB;
  if (blobGasUsed > max) {
    reject(
      "BLOCK_BLOB_GAS_USED_ABOVE_LIMIT",
      `blob gas used ${blobGasUsed} exceeds maximum allowance ${max}`,
    );
  }
  if (blobGasUsed % GAS_PER_BLOB !== 0n) {
    reject(
      "BLOCK_INCORRECT_BLOB_GAS_USED",
      `blob gas used ${blobGasUsed} not a multiple of blob gas per blob ${GAS_PER_BLOB}`,
    );
  }
  const want = nextExcessBlobGas(parent, params, isAtLeast(hardfork, "osaka"));
  if (excessBlobGas !== want) {
    reject(
      "BLOCK_INCORRECT_EXCESS_BLOB_GAS",
      `invalid excessBlobGas: have ${excessBlobGas}, want ${want}`,
    );
  }
}

/** A field is present exactly from the fork that introduced it. */
function checkPresence(header: Header, field: keyof Header, expected: boolean): void {
  if ((header[field] !== undefined) === expected) return;
  const text = expected
    ? `missing ${field}`
    : `invalid ${field}: have ${header[field]}, expected nil`;
  reject("BLOCK_INCORRECT_BLOCK_FORMAT", text);
}
