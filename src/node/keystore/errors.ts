import { NodeError } from "../../base/errors.ts";
import type { Address } from "../../base/primitives/address.ts";

/** The text is not a key file, or its parameters make decryption unreasonably expensive. */
export class InvalidKeyFileError extends NodeError {
  readonly code = "KEY_FILE_INVALID";
  constructor(reason: string, options?: ErrorOptions) {
    super(`invalid key file: ${reason}`, { reason }, options);
  }
}

/** The passphrase does not decrypt the key. The message does not reveal the cause. */
export class WrongPassphraseError extends NodeError {
  readonly code = "KEY_WRONG_PASSPHRASE";
  constructor() {
    super("could not decrypt key with given password");
  }
}

/** The key in the file belongs to another account than the file claims. */
export class KeyMismatchError extends NodeError {
  readonly code = "KEY_MISMATCH";
  constructor(details: { readonly have: Address; readonly want: Address }) {
    super(`key content mismatch: have account ${details.have}, want ${details.want}`, details);
  }
}

export class UnknownKeyError extends NodeError {
  readonly code = "KEY_UNKNOWN";
  constructor(address: Address) {
    super("no key for given address or file", { address });
  }
}

export class KeyExistsError extends NodeError {
  readonly code = "KEY_EXISTS";
  constructor(address: Address) {
    super("account already exists", { address });
  }
}

/** Two key files hold the same account, so the passphrase is ambiguous. */
export class AmbiguousKeyError extends NodeError {
  readonly code = "KEY_AMBIGUOUS";
  constructor(address: Address, files: readonly string[]) {
    super(`multiple keys match address (${files.join(", ")})`, { address, files });
  }
}

/** Other users of this machine can read the key file and guess its passphrase. */
export class LooseKeyFileError extends NodeError {
  readonly code = "KEY_FILE_LOOSE";
  constructor(file: string, mode: number) {
    super(`key file ${file} is open to other users (mode ${mode.toString(8)}); chmod 600 it`, {
      file,
      mode,
    });
  }
}

/** The queue of passphrase checks is full. */
export class KeyDerivationBusyError extends NodeError {
  readonly code = "KEY_DERIVATION_BUSY";
  constructor(waiting: number) {
    super(`${waiting} passphrases are already waiting, try again`, { waiting });
  }
}

/** The node has no key for this account. */
export class UnknownAccountError extends NodeError {
  readonly code = "ACCOUNT_UNKNOWN";
  constructor(address: Address) {
    super("unknown account", { address });
  }
}

/** The node has the account's key file, but its key is not in memory. */
export class AccountLockedError extends NodeError {
  readonly code = "ACCOUNT_LOCKED";
  constructor(address: Address) {
    super("authentication needed: password or unlock", { address });
  }
}

/** Too many recent wrong passphrases for this account; the node did not check this one. */
export class TooManyTriesError extends NodeError {
  readonly code = "KEY_TOO_MANY_TRIES";
  constructor(waitS: number) {
    super(`too many wrong passphrases, try again in ${waitS} s`, { waitS });
  }
}

/** The account was locked while it was being unlocked. */
export class LockedMeanwhileError extends NodeError {
  readonly code = "ACCOUNT_LOCKED_MEANWHILE";
  constructor(address: Address) {
    super("account was locked while it was being unlocked", { address });
  }
}

/** The node listens beyond loopback, so anyone who can reach it could use an unlocked account. */
export class UnlockForbiddenError extends NodeError {
  readonly code = "ACCOUNT_UNLOCK_FORBIDDEN";
  constructor(listener: string) {
    super(
      `account unlock with HTTP access is forbidden: others can reach ${listener}; listen on 127.0.0.1, or set json-rpc.allow-insecure-unlock`,
      { listener },
    );
  }
}

/** The duration overflows geth's int64 nanoseconds. */
export class UnlockDurationError extends NodeError {
  readonly code = "ACCOUNT_UNLOCK_DURATION";
  constructor() {
    super("unlock duration too large");
  }
}

/** No wallet has that URL. */
export class UnknownWalletError extends NodeError {
  readonly code = "WALLET_UNKNOWN";
  constructor(url: string) {
    super("unknown wallet", { url });
  }
}

/** An invalid wallet URL, or a request that this kind of wallet cannot fulfil. Texts are geth's. */
export class WalletRequestError extends NodeError {
  readonly code = "WALLET_REQUEST";
}
