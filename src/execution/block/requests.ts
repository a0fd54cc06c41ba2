import { createHash } from "node:crypto";
import type { Address } from "../../primitives/address.ts";
import { bytesToBigint, concatBytes, EMPTY_BYTES } from "../../primitives/bytes.ts";
import { type Hash, hashFromBytes } from "../../primitives/hash.ts";
import type { Log, Receipt } from "../../types/receipt.ts";
import { InvalidBlockError } from "../errors.ts";

/** EIP-7685 request types: deposits (EIP-6110), withdrawals (EIP-7002), consolidations (EIP-7251). */
const DEPOSIT_TYPE = 0x00;
const WITHDRAWAL_TYPE = 0x01;
const CONSOLIDATION_TYPE = 0x02;

/** keccak256("DepositEvent(bytes,bytes,bytes,bytes,bytes)") */
const DEPOSIT_TOPIC = "0x649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5" as Hash;
const DEPOSIT_LOG_LENGTH = 576;

/** The five fields of a deposit event: offset after its length word, and required length. */
const DEPOSIT_FIELDS = [
  { offset: 160, length: 48 },
  { offset: 256, length: 32 },
  { offset: 320, length: 8 },
  { offset: 384, length: 96 },
  { offset: 512, length: 8 },
] as const;

/** Requests of one block by type, each without its type byte. */
type BlockRequests = {
  readonly deposits: Uint8Array;
  readonly withdrawals: Uint8Array;
  readonly consolidations: Uint8Array;
};

/** The requests as the consensus layer sees them: `type ‖ data`, ascending, without the empty ones (EIP-7685). */
export function requestList(requests: BlockRequests): Uint8Array[] {
  const typed = [
    [DEPOSIT_TYPE, requests.deposits],
    [WITHDRAWAL_TYPE, requests.withdrawals],
    [CONSOLIDATION_TYPE, requests.consolidations],
  ] as const;
  return typed
    .filter(([, data]) => data.length > 0)
    .map(([type, data]) => concatBytes(Uint8Array.of(type), data));
}

/** `requestsHash` of the header: sha256 over the sha256 of each request (EIP-7685). */
export function requestsHash(requests: readonly Uint8Array[]): Hash {
  return hashFromBytes(sha256(concatBytes(...requests.map(sha256))));
}

/**
 * EIP-6110: deposits of all deposit events of the contract, in order.
 * @throws InvalidBlockError for an event of another shape
 */
export function depositsOf(
  receipts: readonly Pick<Receipt, "logs">[],
  depositContract: Address | undefined,
): Uint8Array {
  if (depositContract === undefined) return EMPTY_BYTES;
  const events = receipts
    .flatMap(({ logs }) => logs)
    .filter(({ address, topics }) => address === depositContract && topics[0] === DEPOSIT_TOPIC);
  return concatBytes(...events.map(depositOf));
}

/** pubkey ‖ withdrawal_credentials ‖ amount ‖ signature ‖ index out of the ABI encoding of the event. */
function depositOf({ data }: Log): Uint8Array {
  if (data.length !== DEPOSIT_LOG_LENGTH) {
    throw new InvalidBlockError(
      "BLOCK_INVALID_DEPOSIT_EVENT_LAYOUT",
      `deposit wrong length: want ${DEPOSIT_LOG_LENGTH}, have ${data.length}`,
    );
  }
  const word = (at: number) => bytesToBigint(data.subarray(at, at + 32));
  DEPOSIT_FIELDS.forEach(({ offset, length }, i) => {
    if (word(32 * i) !== BigInt(offset) || word(offset) !== BigInt(length)) {
      throw new InvalidBlockError(
        "BLOCK_INVALID_DEPOSIT_EVENT_LAYOUT",
        `deposit field ${i} is not where it belongs`,
      );
    }
  });
  return concatBytes(
    ...DEPOSIT_FIELDS.map(({ offset, length }) => data.subarray(offset + 32, offset + 32 + length)),
  );
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}
