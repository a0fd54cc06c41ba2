import { addressOfCompressedKey } from "../../base/crypto/compressed-public-key.ts";
import type { RemoteSigner } from "../../consensus/cometbft/signing-role.ts";
import type { Config } from "./config.ts";
import { invalidSetting } from "./errors.ts";

/** A listening address in the only forms that CometBFT accepts. */
const SIGNER_ADDRESS = /^(?:unix:\/\/\/.+|tcp:\/\/(?:[\w.-]+|\[[0-9a-fA-F:]+\]):\d{1,5})$/;

/**
 * The signer of `cometbft.priv-validator-laddr`; undefined if the validator's key is in the home.
 * @throws InvalidConfigError
 */
export function remoteSignerOf({ cometbft }: Pick<Config, "cometbft">): RemoteSigner | undefined {
  const { privValidatorLaddr: address, validatorPublicKey: publicKey } = cometbft;
  if (address === "") return undefined;
  if (!SIGNER_ADDRESS.test(address)) {
    throw invalidSetting("cometbft.priv-validator-laddr", `${address} is not unix:///path or tcp://host:port`);
  }
  if (addressOfCompressedKey(publicKey) === undefined) {
    throw invalidSetting(
      "cometbft.validator-public-key",
      "cometbft.priv-validator-laddr needs the compressed key of the signer, 0x and 66 hex digits",
    );
  }
  return { address, publicKey };
}
