/** The console's imports from viem. */
export * from "viem";
export {
  generateMnemonic,
  generatePrivateKey,
  hdKeyToAccount,
  mnemonicToAccount,
  privateKeyToAccount,
} from "viem/accounts";
