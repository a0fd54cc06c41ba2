import { recoverAddress } from "../../../base/crypto/secp256k1.ts";
import { ECRECOVER_GAS } from "../../../base/params/gas.ts";
import { addressToBytes } from "../../../base/primitives/address.ts";
import { EMPTY_BYTES, leftPad } from "../../../base/primitives/bytes.ts";
import type { Precompile } from "../state-port.ts";
import { inputSlice, inputWord } from "./input.ts";

/**
 * The address that signed a hash: Yellow Paper, appendix E.1.
 *
 *     hash 32 ‖ v 32 (27 or 28) ‖ r 32 ‖ s 32  →  address left-padded to 32, or nothing if there is no signer
 */
export const ecrecover: Precompile = {
  name: "ECREC",
  gas: () => ECRECOVER_GAS,
  run(input) {
    const v = inputWord(input, 32);
    if (v !== 27n && v !== 28n) return EMPTY_BYTES;
    const signer = recoverAddress(
      inputSlice(input, 0, 32),
      inputWord(input, 64),
      inputWord(input, 96),
      v === 27n ? 0 : 1,
    );
    return signer === undefined ? EMPTY_BYTES : leftPad(addressToBytes(signer), 32);
  },
};
