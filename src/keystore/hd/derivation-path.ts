import { WalletRequestError } from "../errors.ts";

/** BIP-44 for Ethereum: what a relative path is relative to. */
export const BASE_PATH = "m/44'/60'/0'/0";

/** BIP-32: the highest bit of a child number says that it is hardened. */
const HARDENED = 0x80000000;

/**
 * `text` as an absolute path in canonical form: `m/44'/60'/0'/0/3`, or `3` for the same. Numbers may be hex.
 * @throws WalletRequestError with geth's texts
 */
export function parseDerivationPath(text: string): string {
  const components = text.split("/").map((component) => component.trim());
  if (text.trim() === "") throw new WalletRequestError("empty derivation path");
  if (components[0] === "") {
    throw new WalletRequestError(
      "ambiguous path: use 'm/' prefix for absolute paths, or no leading '/' for relative ones",
    );
  }
  const isAbsolute = components[0] === "m";
  const children = isAbsolute ? components.slice(1) : components;
  if (children.length === 0) throw new WalletRequestError("empty derivation path");
  const path = children.map(parseChild).join("/");
  return isAbsolute ? `m/${path}` : `${BASE_PATH}/${path}`;
}

function parseChild(component: string): string {
  const isHardened = component.endsWith("'");
  const digits = (isHardened ? component.slice(0, -1) : component).trim();
  if (!/^(?:\d+|0x[0-9a-fA-F]+)$/.test(digits)) {
    throw new WalletRequestError(`invalid component: ${component}`);
  }
  const child = BigInt(digits);
  if (child >= HARDENED) {
    const highest = isHardened ? HARDENED - 1 : 2 ** 32 - 1;
    throw new WalletRequestError(
      `component ${child} out of allowed ${isHardened ? "hardened " : ""}range [0, ${highest}]`,
    );
  }
  return `${child}${isHardened ? "'" : ""}`;
}
