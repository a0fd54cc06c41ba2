import { randomBytes, randomInt } from "node:crypto";
import type { Logger } from "../../../base/telemetry/logger.ts";
import type { KeyObserver } from "../accounts.ts";
import { WalletRequestError, WrongPassphraseError } from "../errors.ts";
import type { KeyStrength } from "../key-file.ts";
import type { KeyDerivation, PassphraseTries } from "../passphrases.ts";
import { type Seal, seal, unseal, type WalletDirectory, type WalletFile } from "./wallet-file.ts";

export type WalletVaultModules = {
  readonly directory: WalletDirectory;
  readonly derivation: KeyDerivation;
  /** Bounds guesses of pairing passwords; the wallet itself counts wrong PINs and PUKs. */
  readonly tries: PassphraseTries;
  readonly log: Logger;
  readonly observer: Pick<KeyObserver, "wrongSecret">;
};

const PIN_TRIES = 3;
const PUK_TRIES = 5;
const PIN_DIGITS = 6;
const PUK_DIGITS = 12;

/** Protects a wallet's master key with pairing password, PIN and PUK, and counts wrong attempts. Callers must serialise calls on one wallet. */
export class WalletVault {
  readonly #strength: KeyStrength;
  readonly #modules: WalletVaultModules;

  constructor(strength: KeyStrength, modules: WalletVaultModules) {
    this.#strength = strength;
    this.#modules = modules;
  }

  /** Creates the file of a new wallet, without a seed, and pairs with it. */
  async create(id: string, pairingPassword: string): Promise<void> {
    this.#directory.write(id, {
      version: 1,
      pairing: await this.#seal(new Uint8Array(0), pairingPassword),
      pin: null,
      puk: null,
      pinTriesLeft: PIN_TRIES,
      pukTriesLeft: PUK_TRIES,
      entropy: null,
      accounts: {},
    });
    this.#keepPairing(id, pairingPassword);
  }

  /** @throws WrongPassphraseError, TooManyTriesError, KeyDerivationBusyError */
  async pair(id: string, password: string): Promise<void> {
    const { tries, derivation } = this.#modules;
    const { pairing } = this.#directory.read(id)!;
    await tries.run(
      `pairing ${id}`,
      () => unseal(pairing, password, derivation),
      (error) => this.#isWrong(error),
    );
    this.#keepPairing(id, password);
  }

  /**
   * Gives a wallet its first PIN and a PUK, which it writes to a file for the owner.
   * @param pin random if omitted; the file then also holds it and the pairing password
   * @returns the master key
   */
  async setPin(id: string, pin?: string): Promise<Uint8Array> {
    const chosen = pin ?? randomDigits(PIN_DIGITS);
    const puk = randomDigits(PUK_DIGITS);
    const masterKey = randomBytes(32);
    const sealed = {
      pin: await this.#seal(masterKey, this.#passphrase(id, chosen)),
      puk: await this.#seal(masterKey, this.#passphrase(id, puk)),
    };
    const generated = pin === undefined ? [`pairing password ${this.#directory.pairings()[id]}`, `PIN ${chosen}`] : [];
    const lines = [`wallet hd://${id}`, ...generated, `PUK ${puk}`, ""];
    // Writes the owner's file before the wallet that depends on it.
    const path = this.#directory.writeSecrets(id, lines.join("\n"));
    this.#directory.write(id, { ...this.#directory.read(id)!, ...sealed });
    this.#modules.log.warn("new wallet: move its secrets to a safe place and delete the file", {
      wallet: id,
      path,
    });
    return masterKey;
  }

  /** The master key. @throws WalletRequestError, WrongPassphraseError, KeyDerivationBusyError */
  async openByPin(id: string, pin: string): Promise<Uint8Array> {
    const file = this.#directory.read(id)!;
    if (file.pin === null) throw new WalletRequestError("smartcard: pin needed");
    if (file.pinTriesLeft === 0) throw new WalletRequestError("smartcard: pin unblock needed");
    const masterKey = await this.#try(id, file.pin, pin, "pinTriesLeft");
    this.#update(id, { pinTriesLeft: PIN_TRIES });
    return masterKey;
  }

  /** Sets a new PIN. @returns the master key @throws as openByPin */
  async unblock(id: string, puk: string, newPin: string): Promise<Uint8Array> {
    const file = this.#directory.read(id)!;
    if (file.puk === null || file.pukTriesLeft === 0) {
      throw new WalletRequestError("Bricked, waiting for full wipe");
    }
    const masterKey = await this.#try(id, file.puk, puk, "pukTriesLeft");
    const pin = await this.#seal(masterKey, this.#passphrase(id, newPin));
    this.#update(id, { pin, pinTriesLeft: PIN_TRIES, pukTriesLeft: PUK_TRIES });
    return masterKey;
  }

  get #directory(): WalletDirectory {
    return this.#modules.directory;
  }

  /** Deducts the attempt before the check and refunds it if the secret was right, so that a crash never grants an extra attempt. */
  async #try(id: string, sealed: Seal, secret: string, counter: "pinTriesLeft" | "pukTriesLeft"): Promise<Uint8Array> {
    const left = this.#directory.read(id)![counter];
    this.#update(id, { [counter]: left - 1 });
    try {
      return await unseal(sealed, this.#passphrase(id, secret), this.#modules.derivation);
    } catch (error) {
      if (!this.#isWrong(error)) this.#update(id, { [counter]: left });
      throw error;
    }
  }

  #isWrong(error: unknown): boolean {
    const isWrong = error instanceof WrongPassphraseError;
    if (isWrong) this.#modules.observer.wrongSecret();
    return isWrong;
  }

  #update(id: string, change: Partial<WalletFile>): void {
    this.#directory.write(id, { ...this.#directory.read(id)!, ...change });
  }

  #keepPairing(id: string, password: string): void {
    this.#directory.writePairings({ ...this.#directory.pairings(), [id]: password });
  }

  #seal(secret: Uint8Array, passphrase: string): Promise<Seal> {
    return seal(secret, passphrase, this.#strength, this.#modules.derivation);
  }

  /** A PIN has only a million values; combined with the pairing password it cannot be guessed from the wallet's file. */
  #passphrase(id: string, pin: string): string {
    return `${this.#directory.pairings()[id] ?? ""}\0${pin}`;
  }
}

function randomDigits(count: number): string {
  return Array.from({ length: count }, () => randomInt(10)).join("");
}
