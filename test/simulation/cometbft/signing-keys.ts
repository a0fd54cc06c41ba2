import { hash } from "node:crypto";

/** Of a secp256k1eth signature: R, S and V. */
const SIGNATURE_HEX_DIGITS = 130;

/**
 * The keys of all validators of a simulation, which makes signatures that only the owner of a key can make and that cost a hash: a signature is the hash
 * of the private key and of what is signed, and verifying one is making it again. A real signature costs a hundred times as much.
 */
export class SigningKeys {
  /** Private keys by public key. */
  readonly #privateKeys = new Map<string, string>();

  /** What was verified already, with the names under which it was. */
  readonly #verified = new WeakMap<object, string>();

  /** Both in hexadecimal digits. */
  register(publicKey: string, privateKey: string): void {
    this.#privateKeys.set(publicKey, privateKey);
  }

  /** @returns 65 bytes in hexadecimal digits */
  sign(privateKey: string, text: string): string {
    return hash("sha256", `${privateKey}/${text}`, "hex").padEnd(SIGNATURE_HEX_DIGITS, "0");
  }

  /** False also for a key that no process has ever opened, since it cannot have signed. */
  isSignedBy(publicKey: string, text: string, signature: string): boolean {
    const privateKey = this.#privateKeys.get(publicKey);
    return privateKey !== undefined && this.sign(privateKey, text) === signature;
  }

  /** Whether `check` holds; once it does it is not asked again for `subject` and `name`, since nodes share the objects that they send to each other. */
  isVerified(subject: object, name: string, check: () => boolean): boolean {
    if (this.#verified.get(subject) === name) return true;
    if (!check()) return false;
    this.#verified.set(subject, name);
    return true;
  }
}
