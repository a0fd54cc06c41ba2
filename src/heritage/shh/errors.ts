import { NodeError } from "../../base/errors.ts";

/** The envelope breaks a rule of the protocol: the sending peer is dishonest, or its clock is wrong. */
export class InvalidEnvelopeError extends NodeError {
  readonly code = "SHH_INVALID_ENVELOPE";
}

/** The sender of a message is not an identity of this node. The text is geth's. */
export class UnknownIdentityError extends NodeError {
  readonly code = "SHH_UNKNOWN_IDENTITY";
  constructor(identity: string) {
    super(`unknown identity to send from: ${identity}`, { identity });
  }
}

/** A message that is too large, or too many identities, filters or posts. */
export class WhisperLimitError extends NodeError {
  readonly code = "SHH_LIMIT";
}

/** The bytes are not encrypted for this key, or were changed. */
export class DecryptionError extends NodeError {
  readonly code = "SHH_DECRYPTION";
}

/** The stored identities cannot be read. */
export class IdentityFileError extends NodeError {
  readonly code = "STORE_WHISPER_IDENTITIES";
}

/** A package of libp2p is missing: the text has the command to install it. */
export class TransportMissingError extends NodeError {
  readonly code = "SHH_TRANSPORT_MISSING";
}

/** The peer address is unusable, or no transport can reach it. */
export class PeerAddressError extends NodeError {
  readonly code = "SHH_PEER_ADDRESS";
}
