import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { parseAddress } from "../../primitives/address.ts";
import { EMPTY_BYTES } from "../../primitives/bytes.ts";
import { bytesToHex, hexToBytes } from "../../primitives/hex.ts";
import { toQuantity } from "../../primitives/quantity.ts";
import { makeFolder } from "../../storage/make-folder.ts";
import { replaceFile } from "../../storage/replace-file.ts";
import { decodeHeader, encodeHeader } from "../../types/header-codec.ts";
import { ForkFileError } from "./errors.ts";
import type { ForkPoint } from "./fork-point.ts";
import { assertContinuable } from "./remote-header.ts";

/** What a dev chain continues; null: nothing, it has a genesis of its own. */
export type ForkChoice = {
  readonly point: ForkPoint;
  /** Nodes of the remote chain. Stored where `hardhat_reset` gave them; else those of the settings are asked. */
  readonly urls?: readonly string[];
  /** Every read of its state must be proven under the state root of the point. */
  readonly isVerified: boolean;
} | null;

type ForkFile = {
  readonly chainId: string;
  readonly header: string;
  readonly alloc: Readonly<
    Record<string, { readonly balance: string; readonly nonce: string; readonly code: string }>
  >;
  readonly urls?: readonly string[];
  /** Left out: false. */
  readonly verified?: boolean;
} | null;

/** The choice of a home; undefined: none was stored. @throws ForkFileError, ForkHeaderError */
export function loadForkChoice(path: string): ForkChoice | undefined {
  if (!existsSync(path)) return undefined;
  let choice: ForkChoice;
  try {
    choice = choiceOf(JSON.parse(readFileSync(path, "utf8")) as ForkFile);
  } catch (cause) {
    throw new ForkFileError(`${path} names no block to continue: ${REMEDY}`, { path }, { cause });
  }
  if (choice !== null) assertContinuable(choice.point.header);
  return choice;
}

const REMEDY = "choose another --home, or remove this one";

function choiceOf(file: ForkFile): ForkChoice {
  if (file === null) return null;
  const { chainId, header, alloc, urls, verified = false } = file;
  const point: ForkPoint = {
    chainId: BigInt(chainId),
    header: decodeHeader(hexToBytes(header)),
    alloc: new Map(
      Object.entries(alloc).map(([address, { balance, nonce, code }]) => [
        parseAddress(address),
        { balance: BigInt(balance), nonce: BigInt(nonce), code: hexToBytes(code) },
      ]),
    ),
  };
  return { point, isVerified: verified, ...(urls && { urls }) };
}

export function storeForkChoice(path: string, choice: ForkChoice): void {
  makeFolder(dirname(path));
  replaceFile(path, `${JSON.stringify(fileOf(choice), undefined, 2)}\n`, 0o600);
}

function fileOf(choice: ForkChoice): ForkFile {
  if (choice === null) return null;
  const { point, urls, isVerified } = choice;
  const { chainId, header, alloc } = point;
  return {
    chainId: toQuantity(chainId),
    header: bytesToHex(encodeHeader(header)),
    alloc: Object.fromEntries(
      [...alloc].map(([address, { balance, nonce = 0n, code = EMPTY_BYTES }]) => [
        address,
        { balance: toQuantity(balance), nonce: toQuantity(nonce), code: bytesToHex(code) },
      ]),
    ),
    ...(urls && { urls }),
    verified: isVerified,
  };
}
